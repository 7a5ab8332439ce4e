"""The targets of one peer for an event of its topic: CAMCAST's routing on the tables of a `TablePeer`.

`hierarchy.shared.routing` says how the paper is read, and does the same for all peers at once; its kernels
choose the same targets from the same draws. Live peers use this one.
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
    """Choose them.

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
    """The adjacent ring neighbours that want an event and are range subscribers.

    `ring` is in the order of the ring, starting after oneself.
    """
    wanting = [place for place, peer in enumerate(ring) if peer.matches(point)]
    adjacent = dict.fromkeys([*wanting[:1], *wanting[-1:]])
    return [ring[place] for place in adjacent if not topical[place]]


def _upward(tables: TablePeer, route: CamcastRoute, size: float, dice: Dice) -> tuple[list[Descriptor], int]:
    """Entries of the super-topic table to send to, as a link; and the number of the next draw."""
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
            k += 1  # the simulator draws whether the message arrives
        k += 1
    return chosen, k


def _nearest_first(tables: TablePeer, fanout: int) -> tuple[list[Descriptor], list[Descriptor]]:
    """The nearest successor and predecessor that the event goes to, and the other equals."""
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
    """`count` of the peers, by the draws from number k on; all, if there are no more."""
    if len(peers) <= count:
        return peers
    for i in range(count):
        j = i + dice.below(k + i, len(peers) - i)
        peers[i], peers[j] = peers[j], peers[i]
    return peers[:count]
