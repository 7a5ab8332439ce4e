"""Completeness of each peer's rings: the share of the ring neighbours it needs for test events that it knows.

`sims.observers.rings` counts the same per event; here it is counted per peer, for the picture.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.engine.simulation import Simulation
from sims.observers.rings import in_view, live_ring
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.geometry.matching import match
from sub2sub.overlay.overlay import Overlay

UNKNOWN = 255  # a peer that matches no test event, or needs no ring neighbours
MOST = 254  # a peer that knows all ring neighbours it needs
ENOUGH = 100_000  # greatest number of subscribers, summed over the test events


@kernel
def links_of_peers(offsets, members, alive, start, size, peer, n, found, needed, complete):
    """Count each peer's ring links in place and needed, over the rings of all events; mark complete rings."""
    ring = np.empty(members.shape[0], np.int64)
    for event in range(offsets.shape[0] - 1):
        count = live_ring(members[offsets[event] : offsets[event + 1]], alive, ring)
        complete[event] = -1
        if count < 2:
            continue
        missing = 0
        for k in range(count):
            holder = ring[k]
            for wanted in (ring[(k + 1) % count], ring[(k - 1) % count]):
                known = in_view(start, size, peer, n, holder, wanted)
                found[holder] += known
                needed[holder] += 1
                missing += not known
        complete[event] = missing == 0


class PeerCompleteness:
    """Measures the rings of test events, peer by peer."""

    def __init__(self, events: NDArray[np.float64]) -> None:
        self.events = events
        self._rows: NDArray[np.int64] | None = None
        self._offsets = self._members = np.zeros(1, np.int64)

    def measure(self, simulation: Simulation) -> tuple[NDArray[np.uint8], float, float]:
        """Return the share of each peer (0 to `MOST`, or `UNKNOWN`), of links in place, of complete rings."""
        overlay = simulation.overlay
        assert isinstance(overlay, Overlay)
        population, pool = overlay.population, overlay.ring.pool
        if self._rows is None or not np.array_equal(self._rows, population.row):
            lows, highs = population.ranges()
            matched = match(lows, highs, self.events)
            # Only as many rings as can be measured in each cycle without a delay.
            m = max(1, int(np.searchsorted(matched.offsets, ENOUGH, side="right")) - 1)
            self._rows, self._offsets = population.row.copy(), matched.offsets[: m + 1]
            self._members = matched.members
        n, m = len(population), len(self._offsets) - 1
        found, needed, complete = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(m, np.int8)
        alive = (overlay.network.alive == 1) & population.present
        links_of_peers(
            self._offsets, self._members, alive, pool.start, pool.size, pool.peer, n, found, needed, complete
        )
        share = np.where(needed > 0, found * MOST // np.maximum(needed, 1), UNKNOWN).astype(np.uint8)
        rings = float(complete[complete >= 0].mean()) if (complete >= 0).any() else 1.0
        return share, float(found.sum() / max(int(needed.sum()), 1)), rings
