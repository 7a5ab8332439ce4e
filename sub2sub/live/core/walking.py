"""A publisher's way to a match, one step at a time: the rules of `sub2sub.events.publishing`.

The walk starts from the peers a publisher knows of and asks the nearest it has not asked; what it is told it
keeps, nearest first. A subscriber that publishes what it does not want itself starts from its own views.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sub2sub.events.publishing import MATCH, Kept, PublisherSettings, distance_to, keep, nearest
from sub2sub.live.core.descriptors import Descriptor

__all__ = ["Walk", "nearest_to"]


class Walk:
    """One event's search for an entry.

    Examples
    --------
    >>> far, near = Descriptor.of(1, "h", 1, [8.0], [9.0]), Descriptor.of(2, "h", 2, [0.0], [1.0])
    >>> walk = Walk((0.5,), PublisherSettings())
    >>> walk.learn([far, near])
    >>> walk.ask_next().id, walk.hand_over().id
    (1, 2)
    """

    def __init__(self, point: tuple[float, ...], settings: PublisherSettings) -> None:
        self.point, self.settings = point, settings
        width = settings.view
        self._kept = Kept(
            np.zeros(width, np.int64), np.zeros(width), np.zeros(width, np.uint8), np.zeros(1, np.int64)
        )
        self._peers: list[Descriptor] = []
        self._number: dict[int, int] = {}
        self.steps = 0

    def learn(self, peers: Iterable[Descriptor]) -> None:
        """Keep those nearest to the event."""
        for peer in peers:
            if peer.id not in self._number:
                self._number[peer.id] = len(self._peers)
                self._peers.append(peer)
                distance = _distance(peer, self.point)
                keep(self._kept, self._number[peer.id], distance, False)

    def hand_over(self) -> Descriptor | None:
        """The next peer that matches, to hand the event to."""
        return self._next(matching=True)

    def ask_next(self) -> Descriptor | None:
        """The nearest peer not asked yet that does not match; None when there is nobody left to ask."""
        if self.steps >= self.settings.max_steps:
            return None
        self.steps += 1
        return self._next(matching=False)

    def _next(self, matching: bool) -> Descriptor | None:
        kept = self._kept
        hidden = kept.asked.copy()
        size = int(kept.size[0])
        kept.asked[:size] |= (kept.distance[:size] == MATCH) != matching
        place = int(nearest(kept))
        kept.asked[:] = hidden
        if place < 0:
            return None
        kept.asked[place] = 1
        return self._peers[int(kept.peer[place])]


def nearest_to(point: tuple[float, ...], peers: Iterable[Descriptor], most: int) -> list[Descriptor]:
    """The peers nearest to a point: what a contacted peer offers a publisher.

    Examples
    --------
    >>> far, near = Descriptor.of(1, "h", 1, [8.0], [9.0]), Descriptor.of(2, "h", 2, [0.0], [1.0])
    >>> [peer.id for peer in nearest_to((0.5,), [far, near], 1)]
    [2]
    """
    different = {peer.id: peer for peer in peers}
    return sorted(different.values(), key=lambda peer: _distance(peer, point))[:most]


def _distance(peer: Descriptor, point: tuple[float, ...]) -> float:
    event = np.zeros((1, 2, peer.box.shape[1]))
    event[0, 0, : len(point)] = point
    return float(distance_to(peer.box[None], 0, event, 0))
