"""Changed subscriptions: spam and misses until the change has spread.

The only source of spam that the paper mentions (Sub-2-Sub, Section 4.2): a node that has recently modified
its subscription may receive events of the old one until the new one has spread enough. Here a share of the
peers exchange subscriptions, at once or a few in every cycle. *Spam* is messages to hosts that no longer
subscribe to the event; *misses* are deliveries to current subscriptions that do not take place. A changed
subscription is a new peer on the same host (`sub2sub.overlay.population`); the paper does not say how links
to the old peer are removed. In the extended form the host sends its new subscription to the old peer's ring
neighbours (`RingSettings.tell_changes`), and old links are not used as shortcuts
(`DisseminationSettings.max_age`). The third form has neither, so links to the old peer age out like links to
dead peers. The paper says that spam ends, so this is judged for all forms.
"""

from __future__ import annotations

from sims.reproduce.claims import OURS, Claims, observed, rounded, span, stated, within
from sims.reproduce.sub2sub.following import EXTENDED, FORMS, PUBLISHED, Scenario, Seen
from workloads.charts.chart import Chart, Sheet

TRICKLE, STOP = "1 % in every cycle", 20
SOON, FEW = 10, 0.01  # cycles after the last change; share missed, at most
WITHIN, SPAM_WITHIN = 30, 6  # cycles, at most
UNTOLD = "extended, nobody told"
AT_ONCE = {"1 % at once": 0.01, "10 % at once": 0.1}
SOURCE = "Sub-2-Sub, Section 4.2: spam only while a changed subscription has not spread; the bound is ours"


def judge(seen: Seen) -> Claims:
    """Spam and misses end soon after the last change."""
    for level in seen.levels:
        since = STOP if level == TRICKLE else 0
        for form, most in ((PUBLISHED, WITHIN), (UNTOLD, SPAM_WITHIN), (EXTENDED, SPAM_WITHIN)):
            spam = seen.recoveries(form, level, "spam", since, full=0.0)
            text = f"{level}: cycles after the last change until nobody receives spam, worst seed"
            yield within(text, spam, most, source=SOURCE, reading=form)
        missed = [1 - hit for hit in seen.means(EXTENDED, level, "hit_ratio", since + SOON, since + SOON + 1)]
        most_spam = {
            form: max(run.spam.max() for run in seen.runs(form, level)) for form in (UNTOLD, EXTENDED)
        }
        yield seen.within(
            f"{level}: cycles after the last change until every event reaches everybody", level, "complete",
            WITHIN, since=since,
        )  # fmt: skip
        yield stated(
            f"{level}: share of deliveries missed {SOON} cycles after the last change, extended, worst seed",
            OURS, f"below {FEW}", round(max(missed), 5), max(missed) < FEW, interval=span(missed),
        )  # fmt: skip
        yield observed(f"{level}: most spam messages per event in one cycle", rounded(most_spam))


def charts(seen: Seen) -> Sheet:
    """Spam and misses over time, both forms."""
    missed = Seen(seen.table.assign(missed=1 - seen.table.hit_ratio), seen.label)
    kinds = (("spam", "messages per event", 1), ("missed", "% of an event's subscribers", 100))
    found = [
        Chart(f"{name}, {form}", "cycles after the (first) change", unit, missed.curves(form, name, times))
        for name, unit, times in kinds
        for form in (PUBLISHED, EXTENDED)
    ]
    return Sheet(found, columns=2)


_TRICKLE = [{"kind": "resubscribe", "from": 40, "until": 40 + STOP, "share": 0.01}]
SCENARIOS = {
    "sub2sub-change": Scenario(
        judge,
        {
            **{name: {"faults.0.share": share} for name, share in AT_ONCE.items()},
            TRICKLE: {"faults": _TRICKLE},
        },
        quick=["10 % at once"], charts=charts,
        forms={**FORMS, UNTOLD: {"layers.ring.tell_changes": False, "dissemination.max_age": 0}},
    ),
}  # fmt: skip
REPRODUCTIONS = {id: own.parts(id) for id, own in SCENARIOS.items()}
