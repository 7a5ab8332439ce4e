"""How one peer of the shared overlay forwards an event by CAMCAST's routing.

CAMCAST, Section 3.5, on the tables of a `TablePeer`, and Sub-2-Sub, Section 4.2, for range subscribers. A
member of a topic that receives an event for the first time sends it

- *within* its community, to the nearest successor and predecessor, and to other random entries of its topic
  table: ln N + c in all, where N is its estimate (`TablePeer.community_size`);
- *upward*, to entries of its super-topic table, the tightest first;
- *aside*, to its adjacent neighbours on the event's ring, as far as those are range subscribers.

A range subscriber has no tables. It forwards the event as Sub-2-Sub does, up and down the event's ring and
along shortcuts, to members and range subscribers alike. Without range subscribers nothing but tables is used.

Differences from CAMCAST:

- The two nearest, the entries above and the neighbours aside acknowledge an event. It is sent again to one
  that does not answer, and then to the next: *hybrid dissemination* (Voulgaris, van Steen, Middleware 2007).
- Who sends upward is no coin of each member. For every event, g points lie evenly on the ring of sequence
  IDs, from a random point on. A member answers for the points from itself to the nearest successor that took
  the event, and sends a copies for each of them. So g a copies go upward, however large the community is;
  with independent coins none goes in a share e^-g of the events. Besides, the publisher and members that got
  the event from a subtopic send a copies, so it climbs by one level in a hop. `CamcastRoute.coins` is the
  paper's rule, without acknowledgements.
- p_a is a/k if k of the z entries have the tightest range, that is, the range of the nearest supertopic with
  members, so that a supertopic with one member gets as many messages as a large one.

`hierarchy.compiled.shared.routing` does the same for a population, with the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import ceil, floor, log

from hierarchy.peers.settings import CamcastRoute
from hierarchy.peers.tables import TablePeer, encloses, looseness
from sub2sub.peers import forwarding
from sub2sub.peers.descriptors import Coordinates, Descriptor
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.forwarding import PeerLinks, Turn

STREAM = stream_number("shared routing")
OFFSET = 0  # draw of an event: where its points begin
UPWARD = 1 << 20  # first draw of a member for what it sends upward


def forward(
    tables: TablePeer,
    views: PeerLinks,
    point: Coordinates,
    came_from: Descriptor | None,
    route: CamcastRoute,
    dice: Dice,
    offset: int,
    send: Callable[[Descriptor, int | None], bool | None],
) -> dict[int, Descriptor]:
    """Forward an event; the targets by ID. Parameters as of `sub2sub.peers.forwarding.forward`, and `offset`.

    Examples
    --------
    >>> from hierarchy.peers.settings import TableSettings
    >>> from sub2sub.peers.descriptors import Link
    >>> own, equal, above = (Descriptor.half_open(k, (low,), (end,))
    ...                      for k, (low, end) in enumerate([(1.0, 5.0), (1.0, 5.0), (0.0, 9.0)]))
    >>> tables = TablePeer(own, TableSettings(), equals=[Link(equal, 0)], above=[Link(above, 0)])
    >>> alone = PeerLinks([], [], [])
    >>> list(forward(tables, alone, (1.0,), None, CamcastRoute(), Dice(1), 0, lambda *to: True))
    [1, 2]
    """
    last = None if came_from is None else came_from.id
    if not tables.topical(tables.own):
        return forwarding.forward(views, point, last, route.rings, dice, send)
    turn = Turn(point, last, route.rings, send)
    size, equals = tables.community_size(), tables.in_order()
    successor = turn.follow_ring(equals)
    turn.follow_ring(equals[::-1])
    turn.follow_shortcuts(equals, floor(log(size) + route.c) - 2, dice)
    if route.coins:
        _toss(turn, tables, route, size, dice)
    else:
        end = tables.own.id if successor is None else successor.id
        passes_on = came_from is None or _is_tighter(came_from, tables)
        _climb(turn, tables, route, points_between(tables.own.id, end, offset, route.g) + passes_on, dice)
    turn.follow_ring(range_neighbours(views.ring, point, tables))
    turn.follow_ring(range_neighbours(views.ring[::-1], point, tables))
    return turn.sent


def points_between(start: int, end: int, offset: int, g: float, around: int = 1 << 64) -> int:
    """How many of g evenly spaced points lie in [start, end) of the ring; all of them if both are the same.

    Examples
    --------
    >>> points_between(0, 1 << 63, 5, 4), points_between(1 << 63, 0, 5, 4), points_between(7, 7, 5, 4)
    (2, 2, 4)
    """
    total = round(g)
    if start == end:
        return total
    spacing = float(around) / total
    first, last = (ceil(float((side - offset) % around) / spacing) for side in (start, end))
    return last - first if (end - offset) % around > (start - offset) % around else total - first + last


def range_neighbours(ring: Sequence[Descriptor], point: Coordinates, tables: TablePeer) -> list[Descriptor]:
    """The range subscribers that match an event in a ring view, up to the first member of a topic."""
    return list(takewhile(lambda peer: not tables.topical(peer), (p for p in ring if p.matches(point))))


def _is_tighter(peer: Descriptor, tables: TablePeer) -> bool:
    return tables.topical(peer) and encloses(tables.own, peer) and not encloses(peer, tables.own)


def tightest_first(tables: TablePeer) -> tuple[list[Descriptor], int]:
    """The entries of the super-topic table, and how many of them, in front, have the tightest range."""
    above = [link.peer for link in tables.above]
    loose = [looseness(tables.own, peer) for peer in above]
    tight = [peer for peer, its in zip(above, loose, strict=True) if its == min(loose)]
    return tight + [peer for peer in above if peer not in tight], len(tight)


def _climb(turn: Turn, tables: TablePeer, route: CamcastRoute, copies: int, dice: Dice) -> None:
    """Send an event upward, `copies` times a, to different peers that take it."""
    if not copies:
        return
    peers, tight = tightest_first(tables)
    whole = floor(copies * route.a)
    wanted, failed = whole + dice.chance(UPWARD, copies * route.a - whole), 0
    for place in range(len(peers)):
        end = tight if place < tight else len(peers)
        other = place + dice.below(UPWARD + 1 + place, end - place)
        peers[place], peers[other] = peers[other], peers[place]
        if wanted <= 0 or failed > route.rings.retries:
            return
        if peers[place].id == turn.came_from or peers[place].id in turn.sent:
            continue
        if turn.takes(peers[place], failed * route.rings.tries):
            wanted -= 1
        else:
            failed += 1


def _toss(turn: Turn, tables: TablePeer, route: CamcastRoute, size: float, dice: Dice) -> None:
    """Send an event upward by independent coins (CAMCAST, Figures 7 and 8)."""
    if dice.unit(UPWARD) >= min(1.0, route.g / size):
        return
    peers, tight = tightest_first(tables)
    p_a = min(1.0, max(route.a, route.g * route.a / size) / max(tight, 1))
    for place, peer in enumerate(peers):
        if dice.chance(UPWARD + 1 + place, p_a) and peer.id not in turn.sent:
            turn.sent[peer.id] = peer
            turn.send(peer, None)
