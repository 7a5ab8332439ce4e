"""Dissemination from the corner of an event to all zones that may contain matching subscriptions.

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

from sub2sub.compiled.common.network import reaches
from sub2sub.compiled.common.randomness import draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.timing.agenda import clear, departure, offer, take
from sub2sub.compiled.timing.latency import travel


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
        draws, k = peer_key(key, own), 0
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
            for copy in range(retries + 1):
                sent[own] += 1
                lost = faults.loss > 0.0 and unit(draw(draws, k)) < faults.loss
                k += 1
                if not lost and reaches(faults.alive, faults.group, own, target):
                    arrived[target] += 1
                    offer(agenda, target, own, leaves + travel(clock, own, target, copy, draws))
                    break
        own = take(agenda)
