"""Progress of ring construction: ring links in place and complete rings, as in Figure 5 of Sub-2-Sub.

The ring of an event consists of the live peers that match it, in the order of their IDs. A ring link leads
to a peer's successor or predecessor on the ring. It is in place if the peer's ring view contains it. A ring
is complete if all its links are in place.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import match
from sub2sub.kernels.compilation import kernel, rule
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

__all__ = ["RingCompleteness", "in_view", "live_ring", "rings_in_place"]


@rule
def live_ring(members, alive, ring):
    """Copy the live members of an event to `ring`, in the order of the ring; return their number."""
    count = 0
    for member in members:
        if alive[member]:
            ring[count] = member
            count += 1
    return count


@rule
def in_view(start, size, peer, n, holder, wanted):
    """Whether the ring view of `holder`, which is in the order of the ring, contains `wanted`."""
    distance = (wanted - holder) % n
    low, high = start[holder], start[holder] + size[holder]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if (peer[middle] - holder) % n < distance:
            low = middle + 1
        else:
            high = middle
    return low < last and peer[low] == wanted


@kernel
def rings_in_place(offsets, members, alive, start, size, peer, n, links, needed):
    """For each event: the number of ring links in place and the number needed, among live members."""
    ring = np.empty(members.shape[0], np.int64)
    for event in range(offsets.shape[0] - 1):
        count = live_ring(members[offsets[event] : offsets[event + 1]], alive, ring)
        links[event], needed[event] = 0, 0
        if count < 2:
            continue
        for k in range(count):
            holder = ring[k]
            for wanted in (ring[(k + 1) % count], ring[(k - 1) % count]):
                links[event] += in_view(start, size, peer, n, holder, wanted)
                needed[event] += 1


class RingCompleteness:
    """Share of ring links in place and of complete rings over test events.

    Parameters
    ----------
    events : (m, d) array_like
        Points of the attribute space.
    """

    name = "rings"

    def __init__(self, events: ArrayLike) -> None:
        self.events = points(events)
        self._members: tuple[bytes, np.ndarray, np.ndarray] | None = None

    def execute(self, simulation: Simulation[Overlay]) -> Row:
        """Check the ring of every event."""
        population, network, pool = (
            simulation.overlay.population,
            simulation.overlay.network,
            simulation.overlay.ring.pool,
        )
        version = _version(population)  # rings are matched anew when it changes
        if self._members is None or self._members[0] != version:
            lows, highs = population.ranges()
            members = match(lows, highs, self.events)
            self._members = (version, members.offsets, members.members)
        _, offsets, members_of = self._members
        m = offsets.size - 1
        links, needed = np.zeros(m, np.int64), np.zeros(m, np.int64)
        alive = (network.alive == 1) & population.present
        rings_in_place(
            offsets, members_of, alive, pool.start, pool.size, pool.peer, len(population), links, needed
        )
        meaningful = needed > 0
        total = max(int(meaningful.sum()), 1)
        return {
            "links": float(links.sum() / max(needed.sum(), 1)),
            "complete": float(((links == needed) & meaningful).sum() / total),
            "rings": int(meaningful.sum()),
        }


def _version(population: Population) -> bytes:
    """Digest of all peers and their subscriptions."""
    digest = hashlib.blake2b(population.row.data)
    digest.update(population.boxes.data)
    return digest.digest()
