"""Churn, beyond the paper: in every cycle a share of the peers leaves and as many newcomers join.

At 5 % a peer lives for 20 cycles, about as long as it takes to find all of its ring neighbours.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.engine import Schedule
from sims.engine.faults import Churn
from sims.reproduce.claims import Claim
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Story, follow, shown

__all__ = ["churn"]

STOP = 40


@experiment("sub2sub-churn", title="Rings and deliveries under continuous churn")
def churn(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Exchange up to 5 % of the peers in every cycle."""
    levels = [0.05] if quick else [0.002, 0.01, 0.02, 0.05]
    story = Story(
        "sub2sub-churn", levels, lambda share: [(Schedule(start=0, until=STOP), Churn(share))],
        after=STOP + 50, spare=2.0,
    )  # fmt: skip
    seen = follow(story, quick, seed, progress)
    seen.save(out, f"Churn for {STOP} cycles", lambda share: f"{share:.1%} per cycle")
    claims = []
    for share in levels:
        hits = {}
        for form in (PUBLISHED, EXTENDED):
            cycles, values = seen.curve(form, share, "hit_ratio")
            hits[form] = float(values[(cycles >= STOP // 2) & (cycles < STOP)].mean())
        rings, complete = (seen.recovery(EXTENDED, share, name, STOP) for name in ("rings", "complete"))
        claims += [
            seen.claim(
                f"{share:.1%} per cycle: hit ratio meanwhile (from cycle {STOP // 2}), published, extended",
                "extended is better", list(hits.values()), hits[EXTENDED] > hits[PUBLISHED],
            ),
            seen.claim(
                f"{share:.1%} per cycle: cycles afterwards until every event reaches everybody, until all "
                "rings are complete, extended", "all recover", [shown(complete), shown(rings)],
                np.isfinite(rings),
            ),
        ]  # fmt: skip
    return [*claims, seen.no_spam()]
