"""One publisher's walk to a peer that matches its event, step by step (Sub-2-Sub, end of Section 4.1).

`sub2sub.compiled.events.publishing` lists what the paper does not specify. Live publishers run this class,
and the kernel must make the same decisions with the same random numbers. `next` returns the peer to ask, or
to hand the event over to; `answered` receives the links that an asked peer offers. If a peer does not answer,
simply call `next` again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sub2sub.peers.descriptors import Coordinates, Descriptor
from sub2sub.peers.draws import stream_number
from sub2sub.peers.settings import PublisherSettings

STREAM = stream_number("publisher")
CONTACT, REQUEST, REPLY, HAND_OVER = range(4)  # the draws of a step, counted from PER_STEP times its number
PER_STEP = 4
ALIKE = 3  # equally far peers, none of which matches, that a publisher keeps
MATCH = -1.0  # nearer than anything that does not match


def distance_to(peer: Descriptor, point: Coordinates) -> float:
    """Squared distance from an event to the box of a peer; `MATCH`, which is below 0, if the peer matches.

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
    """The peers nearest to a point: the offer of a peer that a publisher asks.

    Examples
    --------
    >>> far, near = Descriptor.of(1, [8.0], [9.0]), Descriptor.of(2, [0.0], [1.0])
    >>> [peer.id for peer in nearest_to((0.5,), [far, near, far], 1)]
    [2]
    """
    different = {peer.id: peer for peer in peers}
    return sorted(different.values(), key=lambda peer: distance_to(peer, point))[:most]


class Move(NamedTuple):
    """What a publisher does next: ask a peer, or hand the event over to it.

    `peer` is None if all peers it keeps were asked: then it asks any other peer.
    """

    peer: Descriptor | None
    hand_over: bool


@dataclass
class _Known:
    peer: Descriptor
    distance: float
    asked: int  # how often; `tries` of the settings for those that answered, or do not match


class Walk:
    """One event's search for an entry.

    Attributes
    ----------
    steps : int
        Steps begun. A step is an exchange with the first attempt to hand the event over that follows it, or a
        further attempt.

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
        """Keep the peers nearest to the event."""
        for peer in peers:
            self._keep(peer, asked=0)

    def next(self) -> Move | None:
        """What to do next; None after the last step."""
        waiting = (each for each in self._known if each.asked < self.settings.tries)
        nearest = min(waiting, key=_distance, default=None)
        hand_over = nearest is not None and nearest.distance == MATCH
        same_step = hand_over and self._just_answered
        self._just_answered = False
        if not same_step:
            if self.steps == self.settings.max_steps:
                return None
            self.steps += 1
        if nearest is None:
            return Move(None, hand_over=False)
        nearest.asked = nearest.asked + 1 if hand_over else self.settings.tries
        return Move(nearest.peer, hand_over)

    def answered(self, peer: Descriptor, offers: Iterable[Descriptor]) -> None:
        """Learn the subscription of a peer that was asked, and the links that it offers."""
        self._just_answered = True
        self._keep(peer, asked=0 if peer.matches(self.point) else self.settings.tries)
        self.learn(offers)

    def _keep(self, peer: Descriptor, asked: int) -> None:
        """Keep a peer that is not known yet: in a free place, or instead of the farthest if it is nearer."""
        if any(each.peer.id == peer.id for each in self._known):
            return
        newcomer = _Known(peer, distance_to(peer, self.point), asked)
        alike = sum(each.distance == newcomer.distance for each in self._known)
        if alike >= ALIKE and newcomer.distance != MATCH:
            return
        if len(self._known) < self.settings.view:
            self._known.append(newcomer)
            return
        farthest = max(self._known, key=_distance)
        if newcomer.distance < farthest.distance:
            self._known[self._known.index(farthest)] = newcomer


def _distance(known: _Known) -> float:
    return known.distance
