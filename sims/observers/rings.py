"""Progress of ring construction: ring links in place and complete rings, as in Figure 5 of Sub-2-Sub.

The ring of an event consists of the live peers that match it, in the order of their IDs. A ring link leads
to a peer's successor or predecessor on the ring. It is in place if the peer's ring view contains it. A ring
is complete if all its links are in place.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.threads import share_out
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.compiled.ring_views.pool import RingPool, way_up
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import Members, match
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population


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
    distance = way_up(holder, wanted, n)
    low, high = start[holder], start[holder] + size[holder]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if way_up(holder, peer[middle], n) < distance:
            low = middle + 1
        else:
            high = middle
    return low < last and peer[low] == wanted


@kernel
def _count_links(matches, alive, pool, events, links, needed):
    """For some events: the number of ring links in place and the number needed, among live members."""
    offsets, n = matches.offsets, pool.size.shape[0]
    ring = np.empty(np.diff(offsets).max(), np.int64)
    for event in range(events[0], events[1]):
        count = live_ring(matches.members[offsets[event] : offsets[event + 1]], alive, ring)
        if count < 2:
            continue
        for k in range(count):
            after = ring[k + 1 if k + 1 < count else 0]
            links[event] += in_view(pool.start, pool.size, pool.words, n, ring[k], after)
            links[event] += in_view(pool.start, pool.size, pool.words, n, after, ring[k])
        needed[event] = 2 * count


def rings_in_place(
    matches: Members, alive: NDArray[np.bool_], pool: RingPool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each event: the number of ring links in place and the number needed, among live members."""
    m = matches.offsets.size - 1
    links, needed = np.zeros(m, np.int64), np.zeros(m, np.int64)

    def part(thread: int, first: int, last: int) -> int:
        _count_links(matches, alive, pool, (first, last), links, needed)
        return last

    share_out(part, [(0, m)], least=16)
    return links, needed


class RingCompleteness:
    """Share of ring links in place and of complete rings over test events.

    Parameters
    ----------
    events : (m, d) array_like
        Points of the attribute space.
    """

    observes = True

    name = "rings"

    def __init__(self, events: ArrayLike) -> None:
        self.events = points(events)
        self._members: tuple[bytes, Members] | None = None

    def execute(self, simulation: Simulation[Overlay]) -> Row:
        """Check the ring of every event."""
        overlay, population = simulation.overlay, simulation.overlay.population
        version = _version(population)  # rings are matched anew when it changes
        if self._members is None or self._members[0] != version:
            self._members = version, match(*population.ranges(), self.events)
        alive = (overlay.network.alive == 1) & population.present
        links, needed = rings_in_place(self._members[1], alive, overlay.ring.pool)
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
