"""Loss, beyond the paper: an overlay is built while messages of gossip and of events are lost.

After 60 cycles no message is lost any more. As published, young views lose links faster than they gain them,
and the overlay falls into pieces that gossip does not reconnect. A third form sends every message at most
five times, whatever the loss (`sub2sub.compiled.ring.probes`).
"""

from __future__ import annotations

from sims.reproduce.claims import OURS, Claims, in_words, observed, rounded, span, stated
from sims.reproduce.sub2sub.following import EXTENDED, FORMS, PUBLISHED, Scenario, Seen

STOP = 60
# Bounds: cycles until rings are complete and stay complete, hit ratio meanwhile, cycles after the loss ends.
# The first version, which did not drop silent neighbours, took up to 54 cycles.
RINGS, HITS, AFTER = 54, 0.99, 20
FIVE_TIMES = "extended, sent five times at most"


def judge(seen: Seen) -> Claims:
    """Rings are built, and events delivered, despite the loss."""
    for p in seen.levels:
        hits = seen.means(EXTENDED, p, "hit_ratio", STOP // 2, STOP)
        yield seen.within(f"{p:.0%} lost: cycles until all rings are complete", p, "rings", RINGS)
        yield stated(
            f"{p:.0%} lost: hit ratio from cycle {STOP // 2} to {STOP}, extended, worst seed", OURS,
            f"above {HITS}", round(min(hits), 4), min(hits) > HITS, interval=span(hits),
        )  # fmt: skip
        yield seen.within(
            f"{p:.0%} lost: cycles until every event reaches everybody once nothing is lost", p, "complete",
            AFTER, since=STOP,
        )  # fmt: skip
    ends = {p: max(seen.ends(PUBLISHED, p, "rings")) for p in seen.levels}
    fixed = {f"{p:.0%}": in_words(max(seen.recoveries(FIVE_TIMES, p, "rings"))) for p in seen.levels}
    yield observed(f"cycles until all rings are complete, {FIVE_TIMES}, worst seed", fixed)
    text = "share of complete rings at the end, as published, best seed"
    yield observed(text, rounded(ends, 4, "{:.0%}"))


SCENARIOS = {
    "sub2sub-loss": Scenario(
        judge, {p: {"faults.0.probability": p} for p in (0.0, 0.05, 0.15, 0.3)}, quick=[0.0, 0.3],
        label=f"{{:.0%}} lost until cycle {STOP}", forms={**FORMS, FIVE_TIMES: {"layers.ring.most_tries": 0}},
    ),
}  # fmt: skip
REPRODUCTIONS = {id: own.parts(id) for id, own in SCENARIOS.items()}
