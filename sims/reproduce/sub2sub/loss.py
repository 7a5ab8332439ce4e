"""Loss, beyond the paper: an overlay is built while messages of gossip and of events are lost.

After 60 cycles no message is lost any more. As published, young views lose links faster than they gain them,
and the overlay falls into pieces that gossip does not reconnect. A third form sends every message at most
five times, whatever the loss (`sub2sub.compiled.ring.probes`).
"""

from __future__ import annotations

from dataclasses import replace

from sims.engine import Schedule
from sims.engine.faults import Loss
from sims.reproduce.claims import OURS, Claims, in_words, observed, rounded, span, stated
from sims.reproduce.sub2sub.following import EXTENDED, FORMS, PUBLISHED, FaultScenario, Seen
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings

STOP = 60
# Bounds: cycles until rings are complete and stay complete, hit ratio meanwhile, cycles after the loss ends.
# The first version, which did not drop silent neighbours, took up to 54 cycles.
RINGS, HITS, AFTER = 54, 0.99, 20
FIVE_TIMES = "extended, sent five times at most"
_plain = OverlaySettings()
_plain = replace(_plain, ring=replace(_plain.ring, most_tries=0))


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


FaultScenario(
    "sub2sub-loss", "Rings built and events delivered while messages are lost", judge,
    levels=[0.0, 0.05, 0.15, 0.3], quick_levels=[0.0, 0.3],
    faults=lambda p, peers, seed: [(Schedule(at=0), Loss(p)), (Schedule(at=STOP), Loss(0.0))],
    label=lambda p: f"{p:.0%} lost until cycle {STOP}", after=STOP + 30, built=0,
    forms={**FORMS, FIVE_TIMES: (_plain, DisseminationSettings())},
).register()  # fmt: skip
