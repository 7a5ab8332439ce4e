"""A publisher's way to a peer that wants its event, one step at a time (Sub-2-Sub, end of Section 4.1).

`sub2sub.events.publishing` says what the paper leaves open. Live publishers run this class, and the kernel
must walk as it does, draw for draw. `next` says whom to ask, or to hand the event to; `answered` takes in
what a peer that was asked offers. Silence need not be reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sub2sub.events.publishing import MATCH, PublisherSettings
from sub2sub.overlay.descriptors import Coordinates, Descriptor


def distance_to(peer: Descriptor, point: Coordinates) -> float:
    """Squared distance from an event to the box of a peer; `MATCH`, below all others, if it contains it.

    Examples
    --------
    >>> distance_to(Descriptor.half_open(1, (2.0,), (3.0,)), (0.0,))
    4.0
    """
    if peer.matches(point):
        return MATCH
    total = 0.0
    for low, end, x in zip(peer.low, peer.end, point, strict=True):
        gap = max(low - x, x - end, 0.0)
        total += gap * gap
    return total


def nearest_to(point: Coordinates, peers: Iterable[Descriptor], most: int) -> list[Descriptor]:
    """The peers nearest to a point: what a peer that is asked offers a publisher.

    Examples
    --------
    >>> far, near = Descriptor.of(1, [8.0], [9.0]), Descriptor.of(2, [0.0], [1.0])
    >>> [peer.id for peer in nearest_to((0.5,), [far, near, far], 1)]
    [2]
    """
    different = {peer.id: peer for peer in peers}
    return sorted(different.values(), key=lambda peer: distance_to(peer, point))[:most]


class Move(NamedTuple):
    """What a publisher does next; `peer` None: ask anybody, as everybody it keeps was asked."""

    peer: Descriptor | None
    hand_over: bool


@dataclass
class _Known:
    peer: Descriptor
    distance: float
    asked: bool


class Walk:
    """One event's search for an entry.

    Attributes
    ----------
    steps : int
        Steps begun: an exchange, with the first attempt to hand the event over that follows from it, or
        another attempt.

    Examples
    --------
    >>> far, near = Descriptor.of(1, [8.0], [9.0]), Descriptor.of(2, [0.0], [1.0])
    >>> walk = Walk((0.5,), PublisherSettings())
    >>> walk.learn([far])
    >>> walk.next().peer.id
    1
    >>> walk.answered(far, [near])
    >>> move = walk.next()
    >>> move.peer.id, move.hand_over, walk.steps
    (2, True, 1)
    """

    def __init__(self, point: Coordinates, settings: PublisherSettings) -> None:
        self.point, self.settings, self.steps = point, settings, 0
        self._known: list[_Known] = []
        self._just_answered = False

    def learn(self, peers: Iterable[Descriptor]) -> None:
        """Keep those nearest to the event."""
        for peer in peers:
            self._keep(peer, asked=False)

    def next(self) -> Move | None:
        """What to do next; None when there have been steps enough."""
        nearest = min((each for each in self._known if not each.asked), key=_distance, default=None)
        hand_over = nearest is not None and nearest.distance == MATCH
        same_step = hand_over and self._just_answered
        self._just_answered = False
        if not same_step:
            if self.steps == self.settings.max_steps:
                return None
            self.steps += 1
        if nearest is None:
            return Move(None, hand_over=False)
        nearest.asked = True
        return Move(nearest.peer, hand_over)

    def answered(self, peer: Descriptor, offers: Iterable[Descriptor]) -> None:
        """Take in what a peer that was asked knows; now it is known what it subscribes to, too."""
        self._just_answered = True
        self._keep(peer, asked=not peer.matches(self.point))
        self.learn(offers)

    def _keep(self, peer: Descriptor, asked: bool) -> None:
        """Put a peer not known yet into a free place or, if it is nearer, that of the farthest."""
        if any(each.peer.id == peer.id for each in self._known):
            return
        newcomer = _Known(peer, distance_to(peer, self.point), asked)
        if len(self._known) < self.settings.view:
            self._known.append(newcomer)
            return
        farthest = max(self._known, key=_distance)
        if newcomer.distance < farthest.distance:
            self._known[self._known.index(farthest)] = newcomer


def _distance(known: _Known) -> float:
    return known.distance
