"""A partition, beyond the paper: parts that cannot reach one another for 50 cycles, and then can again.

Long before that each part has given up the others, and closed its rings without them; as published nobody is
given up, and all links are in place when the parts meet again. Rings and hit ratio count the subscribers of
all parts at all times, so that meanwhile an event can reach no more than those of the part it enters.
"""

from __future__ import annotations

from sims.engine import Schedule
from sims.engine.faults import Partition
from sims.reproduce.claims import Claim
from sims.reproduce.sub2sub.following import FaultScenario, Seen, register_scenario

MERGED = 50
WITHIN = 30  # cycles after the merge, at most


def judge(seen: Seen) -> list[Claim]:
    """Parts merge within a bound."""
    claims = []
    for parts in seen.levels:
        for column, what in (
            ("complete", "every event reaches everybody"),
            ("rings", "all rings are complete"),
        ):
            text = f"{parts:.0f} parts: cycles after the merge until {what}"
            claims.append(seen.within(text, parts, column, WITHIN, since=MERGED))
    return [*claims, seen.published("cycles after the merge until all rings are complete", "rings", MERGED)]


register_scenario(
    FaultScenario(
        "sub2sub-partition", f"Rings and deliveries after a partition of {MERGED} cycles",
        levels=[2.0, 4.0], quick_levels=[2.0],
        faults=lambda parts, peers, seed: [
            (Schedule(at=0), Partition(int(parts))), (Schedule(at=MERGED), Partition(1)),
        ],
        label=lambda parts: f"{parts:.0f} parts for {MERGED} cycles", after=MERGED + 40,
    ),
    judge,
)  # fmt: skip
