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

from dataclasses import replace

import pandas as pd

from sims.engine import Schedule
from sims.engine.faults import Resubscribe
from sims.figures.style import figure, legend_above, seed_line
from sims.reproduce.claims import OURS, Claims, observed, rounded, span, stated, within
from sims.reproduce.reproduction import Figures, Tables
from sims.reproduce.sub2sub import following
from sims.reproduce.sub2sub.following import EXTENDED, FORMS, PUBLISHED, FaultScenario, Seen

TRICKLE, STOP = "1 % in every cycle", 20
SOON, FEW = 10, 0.01  # cycles after the last change; share missed, at most
WITHIN, SPAM_WITHIN = 30, 6  # cycles, at most
UNTOLD = "extended, nobody told"
AT_ONCE = {"1 % at once": 0.01, "10 % at once": 0.1}
SOURCE = "Sub-2-Sub, Section 4.2: spam only while a changed subscription has not spread; the bound is ours"
_overlay, _dissemination = FORMS[EXTENDED]
_untold = (
    replace(_overlay, ring=replace(_overlay.ring, tell_changes=False)),
    replace(_dissemination, max_age=0),
)


def _faults(level: str, peers: int, seed: int) -> following.Faults:
    if level == TRICKLE:
        return [(Schedule(start=0, until=STOP), Resubscribe(0.01))]
    return [(Schedule(at=0), Resubscribe(AT_ONCE[level]))]


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


def draw(scenario: FaultScenario, tables: Tables) -> Figures:
    """Spam and misses over time, both forms."""
    seen = Seen(tables[following.TABLE])
    fig, axes = figure(2, 2, figsize=(9.6, 6.4), sharex=True, sharey="row")
    for side, form in enumerate((PUBLISHED, EXTENDED)):
        for number, level in enumerate(seen.levels):
            runs = pd.concat(seen.runs(form, level))
            for row, values in enumerate((runs.spam, 100 * (1 - runs.hit_ratio))):
                curves = runs.assign(value=values).pivot(index="cycle", columns="seed", values="value")
                seed_line(axes[row, side], number, curves, str(level), markevery=6)
        axes[0, side].set_title(f"spam, {form}", fontsize=10)
        axes[1, side].set_title(f"misses, {form}", fontsize=10)
        axes[1, side].set_xlabel("cycles after the (first) change")
    axes[0, 0].set_ylabel("messages per event")
    axes[1, 0].set_ylabel("% of an event's subscribers")
    for panel in axes[:, 0]:
        panel.set_ylim(0, None)
    return {"": legend_above(fig, axes[0, 0], len(seen.levels))}


FaultScenario(
    "sub2sub-change", "Spam and misses while changed subscriptions spread", judge,
    levels=[*AT_ONCE, TRICKLE], quick_levels=["10 % at once"], faults=_faults, label=str,
    after=60, spare=0.3, every=1, forms={**FORMS, UNTOLD: _untold}, draw=draw,
).register()  # fmt: skip
