"""The targets of one peer for an event of its topic: CAMCAST's routing on the tables of a `TablePeer`.

`hierarchy.shared.routing` lists the differences from the paper, and does the same for a population: its
kernels choose the same targets with the same random numbers. Live peers use this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log
from typing import NamedTuple

from hierarchy.shared.peer import TablePeer, looseness
from hierarchy.shared.settings import CamcastRoute
from sub2sub.kernels.dice import Dice
from sub2sub.overlay.descriptors import Coordinates, Descriptor


class Targets(NamedTuple):
    """Targets of an event: members of the nearest supertopics, and of the peer's own community."""

    upward: list[Descriptor]
    within: list[Descriptor]


def targets_of(tables: TablePeer, route: CamcastRoute, dice: Dice) -> Targets:
    """Choose the targets of an event.

    Examples
    --------
    >>> from hierarchy.shared.settings import TableSettings
    >>> from sub2sub.overlay.descriptors import Link
    >>> own, equal, above = (Descriptor.half_open(k, (low,), (end,))
    ...                      for k, (low, end) in enumerate([(1.0, 5.0), (1.0, 5.0), (0.0, 9.0)]))
    >>> tables = TablePeer(own, TableSettings(), equals=[Link(equal, 0)], above=[Link(above, 0)])
    >>> [[peer.id for peer in peers] for peers in targets_of(tables, CamcastRoute(), Dice(1))]
    [[2], [1]]
    """
    size = tables.community_size()
    upward, k = _upward(tables, route, size, dice)
    fanout = max(1, floor(log(size) + route.c))
    near, others = _nearest_first(tables, fanout)
    return Targets(upward, near + _some(others, fanout - len(near), k, dice))


def range_neighbours(
    ring: Sequence[Descriptor], point: Coordinates, topical: Sequence[bool]
) -> list[Descriptor]:
    """The adjacent neighbours on an event's ring, if they are range subscribers.

    `ring` has the neighbours in the order of the ring, starting with the successor.
    """
    wanting = [place for place, peer in enumerate(ring) if peer.matches(point)]
    adjacent = dict.fromkeys([*wanting[:1], *wanting[-1:]])
    return [ring[place] for place in adjacent if not topical[place]]


def _upward(tables: TablePeer, route: CamcastRoute, size: float, dice: Dice) -> tuple[list[Descriptor], int]:
    """Targets in the super-topic table, none if the peer is not a link; and the number of the next draw."""
    chosen: list[Descriptor] = []
    k = 1
    if dice.unit(0) >= min(1.0, route.g / size):
        return chosen, k
    loose = [looseness(tables.own, link.peer) for link in tables.above]
    tightest = loose.count(min(loose)) if loose else 1
    p_a = min(1.0, max(route.a, route.g * route.a / size) / tightest)
    for link in tables.above:
        if dice.unit(k) < p_a:
            chosen.append(link.peer)
            k += 1  # the simulator uses this draw to decide whether the message arrives
        k += 1
    return chosen, k


def _nearest_first(tables: TablePeer, fanout: int) -> tuple[list[Descriptor], list[Descriptor]]:
    """The nearest successor and predecessor, as far as the fanout allows, and the other equals."""
    row = [link.peer for link in tables.equals]
    count = 0
    for sign in (1, -1):
        if count == min(len(row), fanout):
            break
        ways = [sign * (peer.id - tables.own.id) % tables.around for peer in row[count:]]
        nearest = count + ways.index(min(ways))
        row[count], row[nearest] = row[nearest], row[count]
        count += 1
    return row[:count], row[count:]


def _some(peers: list[Descriptor], count: int, k: int, dice: Dice) -> list[Descriptor]:
    """`count` random peers, with the draws from number k on; all peers if there are no more."""
    if len(peers) <= count:
        return peers
    for i in range(count):
        j = i + dice.below(k + i, len(peers) - i)
        peers[i], peers[j] = peers[j], peers[i]
    return peers[:count]
