"""Loss, beyond the paper: an overlay built from nothing while messages are lost, of gossip and of events.

After 60 cycles nothing is lost any more. As published, young views lose links faster than they win them, and
the overlay falls into pieces that no gossip joins again.
"""

from __future__ import annotations

from sims.engine import Schedule
from sims.engine.faults import Loss
from sims.reproduce.claims import OURS, Claim, observed, span, stated
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, FaultScenario, Seen, register_scenario

__all__ = ["judge"]

STOP = 60
RINGS, HITS, AFTER = STOP + 20, 0.9, 20  # bounds: cycles, hit ratio meanwhile, cycles once nothing is lost


def judge(seen: Seen) -> list[Claim]:
    """Rings are built, and events delivered, despite the loss."""
    claims = []
    for p in seen.levels:
        hits = seen.means(EXTENDED, p, "hit_ratio", STOP // 2, STOP)
        claims += [
            seen.within(f"{p:.0%} lost: cycles until all rings are complete", p, "rings", RINGS),
            stated(
                f"{p:.0%} lost: hit ratio from cycle {STOP // 2} to {STOP}, extended, worst seed", OURS,
                f"above {HITS}", round(min(hits), 4), min(hits) > HITS, interval=span(hits),
            ),
            seen.within(
                f"{p:.0%} lost: cycles until every event reaches everybody once nothing is lost", p,
                "complete",
                AFTER, since=STOP,
            ),
        ]  # fmt: skip
    ends = {f"{p:.0%}": round(max(seen.ends(PUBLISHED, p, "rings")), 4) for p in seen.levels}
    text = "share of complete rings at the end, as published, best seed"
    return [*claims, observed(text, "not in the paper", ends)]


register_scenario(
    FaultScenario(
        "sub2sub-loss", "Rings built and events delivered while messages are lost",
        levels=[0.0, 0.05, 0.15, 0.3], quick_levels=[0.0, 0.3],
        faults=lambda p, peers, seed: [(Schedule(at=0), Loss(p)), (Schedule(at=STOP), Loss(0.0))],
        label=lambda p: f"{p:.0%} lost until cycle {STOP}", after=STOP + 30, built=0,
    ),
    judge,
)  # fmt: skip
