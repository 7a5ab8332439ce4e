"""Loss, beyond the paper: an overlay built from nothing while messages are lost, of gossip and of events.

After 60 cycles nothing is lost any more. As published, young views lose links faster than they win them, and
the overlay falls into pieces that no gossip joins again.
"""

from __future__ import annotations

from pathlib import Path

from sims.engine import Schedule
from sims.engine.faults import Loss
from sims.reproduce.claims import Claim
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Story, follow, shown

__all__ = ["loss"]

STOP = 60


@experiment("sub2sub-loss", title="Rings built and events delivered while messages are lost")
def loss(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Lose up to 30 % of all messages, from the first on."""
    levels = [0.0, 0.3] if quick else [0.0, 0.05, 0.15, 0.3]
    story = Story(
        "sub2sub-loss", levels, lambda p: [(Schedule(at=0), Loss(p)), (Schedule(at=STOP), Loss(0.0))],
        after=STOP + 30, built=0,
    )  # fmt: skip
    seen = follow(story, quick, seed, progress)
    seen.save(out, f"Messages lost until cycle {STOP}", lambda p: f"{p:.0%} lost")
    claims = []
    for p in levels:
        rings = seen.recovery(EXTENDED, p, "rings")
        cycles, hits = seen.curve(EXTENDED, p, "hit_ratio")
        settled = float(hits[(cycles >= STOP // 2) & (cycles < STOP)].mean())
        after = seen.recovery(EXTENDED, p, "complete", STOP)
        claims += [
            seen.claim(
                f"{p:.0%} lost: cycles until all rings are complete, extended",
                f"at most {STOP + 20}", shown(rings), rings <= STOP + 20,
            ),
            seen.claim(
                f"{p:.0%} lost: hit ratio from cycle {STOP // 2} on, and cycles until every event reaches "
                "everybody once nothing is lost, extended", "above 0.9, at most 20",
                [settled, shown(after)], settled > 0.9 and after <= 20,
            ),
        ]  # fmt: skip
    worst = seen.curve(PUBLISHED, levels[-1], "rings")[1][-1]
    text = f"{levels[-1]:.0%} lost, as published: share of complete rings at the end"
    claims.append(seen.claim(text, "far from all", float(worst), worst < 0.9))
    return [*claims, seen.no_spam()]
