"""Failed messages reveal dead peers: half of the peers crash while events are published, or without events.

A peer whose message along a ring link fails probes that neighbour, and drops it if it does not answer
(`sims.engine.publish`), instead of waiting until the link is too old. Dropping alone does not heal the
protocol as published, because peers keep sending each other links to dead peers.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sims.engine.publish import Publish
from sims.reproduce.claims import OURS, Claims, rounded, stated
from sims.reproduce.sub2sub.following import EXTENDED, Scenario, Seen
from workloads import named

UNTIL = 10  # cycles in which views are still full of the dead
WITHIN = 40  # cycles, at most


def _events(rate: float, peers: int, seed: int) -> Publish | None:
    events = named("power-law-3").candidates(seed + 1, 0, peers)
    return Publish(events, count=round(rate * peers)) if rate else None


def judge(seen: Seen) -> Claims:
    """Traffic helps to find dead peers, and rings heal with it and without."""
    hits, failed = (
        {rate: float(np.mean(seen.means(EXTENDED, rate, name, 1, UNTIL + 1))) for rate in seen.levels}
        for name in ("hit_ratio", "failed")
    )
    rates = ", ".join(f"{rate:g}" for rate in seen.levels)
    at = f"in the first {UNTIL} cycles, at {rates} events per peer and cycle, extended"
    yield stated(
        f"hit ratio {at}", OURS, "rises with traffic", rounded(hits, 4, "{:g} events"),
        all(a < b for a, b in pairwise(hits.values())),
    )  # fmt: skip
    yield stated(
        f"failed messages per event {at}", OURS, "fall with traffic", rounded(failed, 3, "{:g} events"),
        all(a > b for a, b in pairwise(failed.values())),
    )  # fmt: skip
    for rate in seen.levels:
        yield seen.within(
            f"{rate:g} events per peer and cycle: cycles until all rings are complete", rate, "rings", WITHIN
        )
    yield seen.published("cycles until all rings are complete, by events per peer and cycle", "rings")


SCENARIOS = {
    "sub2sub-traffic": Scenario(
        judge, {rate: {} for rate in (0.0, 0.1, 1.0)}, quick=[0.0, 1.0], more=_events,
        label="{:g} events per peer and cycle",
    ),
}  # fmt: skip
REPRODUCTIONS = {id: own.parts(id) for id, own in SCENARIOS.items()}
