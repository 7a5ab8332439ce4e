"""A partition, beyond the paper: parts that cannot reach one another for 50 cycles, and then can again.

Long before that each part has given up the others, and closed its rings without them; as published nobody is
given up, and all links are in place when the parts meet again. Rings and hit ratio count the subscribers of
all parts at all times, so that meanwhile an event can reach no more than those of the part it enters.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.engine import Schedule
from sims.engine.faults import Partition
from sims.reproduce.claims import Claim
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.following import EXTENDED, Story, follow, shown

__all__ = ["partition"]

MERGED = 50


@experiment("sub2sub-partition", title="Rings and deliveries after a partition of 50 cycles")
def partition(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Divide the network into 2 and 4 parts, and merge it again."""
    levels = [2.0] if quick else [2.0, 4.0]
    story = Story(
        "sub2sub-partition", levels,
        lambda parts: [(Schedule(at=0), Partition(int(parts))), (Schedule(at=MERGED), Partition(1))],
        after=MERGED + 40,
    )  # fmt: skip
    seen = follow(story, quick, seed, progress)
    seen.save(out, f"Partition for {MERGED} cycles", lambda parts: f"{parts:.0f} parts")
    claims = []
    for parts in levels:
        rings, complete = (seen.recovery(EXTENDED, parts, name, MERGED) for name in ("rings", "complete"))
        text = (
            f"{parts:.0f} parts: cycles after the merge until every event reaches everybody, until all rings "
            "are complete, extended"
        )
        claims.append(seen.claim(text, "they merge", [shown(complete), shown(rings)], np.isfinite(rings)))
    return [*claims, seen.no_spam()]
