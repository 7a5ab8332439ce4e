"""A partition, beyond the paper: parts that cannot reach each other for 50 cycles, and then merge.

Long before the merge each part has dropped the peers of the others, and closed its rings without them. As
published no peer is dropped, and all links are in place when the parts merge. Rings and hit ratio always
count the subscribers of all parts, so during the partition an event reaches at most those of its publisher's
part.
"""

from __future__ import annotations

from sims.reproduce.claims import Claims
from sims.reproduce.sub2sub.following import Scenario, Seen

MERGED = 50
WITHIN = 30  # cycles after the merge, at most


def judge(seen: Seen) -> Claims:
    """Parts merge within a bound."""
    for parts in seen.levels:
        text = f"{parts:.0f} parts: cycles after the merge until"
        yield seen.within(f"{text} every event reaches everybody", parts, "complete", WITHIN, since=MERGED)
        yield seen.within(f"{text} all rings are complete", parts, "rings", WITHIN, since=MERGED)
    yield seen.published("cycles after the merge until all rings are complete", "rings", MERGED)


SCENARIOS = {
    "sub2sub-partition": Scenario(
        judge, {float(parts): {"faults.0.groups": parts} for parts in (2, 4)}, quick=[2.0],
        label=f"{{:.0f}} parts for {MERGED} cycles",
    ),
}  # fmt: skip
REPRODUCTIONS = {id: own.parts(id) for id, own in SCENARIOS.items()}
