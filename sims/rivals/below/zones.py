"""Zones of a content-addressable network: half-open boxes that tile the space (Ratnasamy et al., 2001).

And dissemination from the corner of an event to all zones that may contain matching subscriptions.

An event c concerns the points with low <= c <= high in every attribute, a box with one corner at (c, c, ...).
It is routed to the zone of that corner (Meghdoot, Section 3.3) and spreads from zone to zone. Each zone gets
it from one neighbour only: the one across the first dimension in which the zone does not contain the corner,
at the point of the zone that is nearest to the corner. Both zones can decide this by themselves; the paper
prunes by the direction of propagation, with the same effect.

Low ends are even dimensions, high ends odd ones. Low ends are negated here, so that an event concerns the
points with coordinates from its corner on in all dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import repeated
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.timing.agenda import clear, departure, offer, take
from sub2sub.compiled.timing.latency import travel

Zone = tuple[tuple[float, ...], tuple[float, ...]]  # lower and upper corner


def holds(zone: Zone, point: tuple[float, ...]) -> bool:
    """Whether a zone contains a point.

    Examples
    --------
    >>> holds(((0.0, 0.0), (1.0, 0.5)), (0.2, 0.5))
    False
    """
    for low, x, high in zip(zone[0], point, zone[1], strict=True):  # noqa: SIM110 (3 times as fast)
        if not low <= x < high:
            return False
    return True


def gap(zone: Zone, point: tuple[float, ...]) -> float:
    """Squared distance of a point from a zone.

    Examples
    --------
    >>> gap(((0.0, 0.0), (1.0, 1.0)), (4.0, 0.5))
    9.0
    """
    total = 0.0
    for low, x, high in zip(zone[0], point, zone[1], strict=True):
        if x < low:
            total += (low - x) ** 2
        elif x > high:
            total += (x - high) ** 2
    return total


def touch(a: Zone, b: Zone) -> bool:
    """Whether two zones share a face: they meet in one dimension and overlap in all others.

    Examples
    --------
    >>> left, right, corner = (((x, y), (x + 1.0, y + 1.0)) for x, y in ((0.0, 0.0), (1.0, 0.5), (1.0, 1.0)))
    >>> touch(left, right), touch(left, corner)
    (True, False)
    """
    met = 0
    for a_low, a_high, b_low, b_high in zip(*a, *b, strict=True):
        if a_low < b_high and b_low < a_high:
            continue
        if a_high != b_low and b_high != a_low:
            return False
        met += 1
        if met > 1:
            return False
    return met == 1


def volume(zone: Zone) -> float:
    """How large a zone is.

    Examples
    --------
    >>> volume(((0.0, 0.0), (2.0, 0.5)))
    1.0
    """
    product = 1.0
    for low, high in zip(*zone, strict=True):
        product *= high - low
    return product


def cut(zone: Zone, kept: tuple[float, ...], given: tuple[float, ...]) -> tuple[Zone, Zone]:
    """Halve a zone between two points of it, across its longest side of those along which they are apart.

    Interests are often narrow, so points lie near a line. If zones were cut where points are farthest apart,
    they would be slices across that line, and the length of a route would be the number of peers.

    Examples
    --------
    >>> cut(((0.0, 0.0), (1.0, 1.0)), (0.25, 0.5), (0.75, 0.5))
    (((0.0, 0.0), (0.5, 1.0)), ((0.5, 0.0), (1.0, 1.0)))
    """
    low, high = zone
    apart = [abs(a - b) for a, b in zip(kept, given, strict=True)]
    enough = max(apart) / 4
    sides = [top - base if far >= enough else 0.0 for base, top, far in zip(low, high, apart, strict=True)]
    axis = sides.index(max(sides))
    at = (kept[axis] + given[axis]) / 2
    if at <= min(kept[axis], given[axis]):  # neighbours among the floats
        at = max(kept[axis], given[axis])
    below = (low, (*high[:axis], at, *high[axis + 1 :]))
    above = ((*low[:axis], at, *low[axis + 1 :]), high)
    return (below, above) if kept[axis] < at else (above, below)


class Zones(NamedTuple):
    """All zones, their owners, and the owners that each peer knows.

    Attributes
    ----------
    low, high : (zones, 2 d) float64
        Corners, low ends negated.
    own_start, own : int64
        Zones of peer p: ``own[own_start[p] : own_start[p + 1]]``.
    start, zone, peer : int64
        Zones that peer p knows, and the owner of each as p knows it: ``[start[p] : start[p + 1]]``.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    own_start: NDArray[np.int64]
    own: NDArray[np.int64]
    start: NDArray[np.int64]
    zone: NDArray[np.int64]
    peer: NDArray[np.int64]


@kernel
def _concerned(zones, z, corner):
    """Whether a zone may contain a subscription that matches."""
    for k in range(len(corner)):  # noqa: SIM110 (numba has no generators)
        if zones.high[z, k] <= corner[k]:
            return False
    return True


@kernel
def comes_from(zones, z, corner, other):
    """Whether zone z gets an event from this other zone."""
    crossed = False
    for k in range(len(corner)):
        low, high = zones.low[other, k], zones.high[other, k]
        if not crossed and zones.low[z, k] > corner[k]:
            crossed = True
            if high != zones.low[z, k]:
                return False
        elif not (low <= max(zones.low[z, k], corner[k]) < high):
            return False
    return crossed


@kernel
def spread_zones(zones, corner, root, retries, faults, key, clock, agenda, traced):
    """Spread an event from the zone of the corner to all zones that it concerns.

    `traced` are (first, sent, arrived, when), arrays of all peers to which the counts are added. Peers on the
    event's route to the corner have it already, and forward it when it arrives again.
    """
    first, sent, arrived, when = traced
    clear(agenda)
    offer(agenda, root, -1, when[root])
    start = first[root]
    own = take(agenda)
    while own >= 0:
        if first[own] < 0:
            first[own], when[own] = start + agenda.hop[own], agenda.when[own]
        draws, k = peer_key(key, own), np.int64(0)
        for entry in range(zones.start[own], zones.start[own + 1]):
            z = zones.zone[entry]
            if not _concerned(zones, z, corner):
                continue
            mine = False
            for place in range(zones.own_start[own], zones.own_start[own + 1]):
                mine = mine or comes_from(zones, z, corner, zones.own[place])
            if not mine:
                continue
            target = zones.peer[entry]
            leaves = departure(clock, agenda.free, own, target, agenda.when[own], 0)
            copies, came, number = repeated(faults, own, target, draws, k, retries)
            k += 1
            sent[own] += copies
            arrived[target] += came
            if came > 0:
                offer(agenda, target, own, leaves + travel(clock, own, target, number, draws))
        own = take(agenda)
