"""VICINITY for one live peer: `sub2sub.vicinity.rules`'s rules on the peers it knows.

Distances are computed by whoever receives a link, never believed. `Tie.SEQUENCE` counts the way around the
ring in peers, of which a live peer knows only some: with it, live views differ from simulated ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw
from sub2sub.live.core.descriptors import Descriptor, Link
from sub2sub.live.core.known_peers import Crowd
from sub2sub.overlay.views import known, oldest, peer_of, stamp_of
from sub2sub.vicinity.layer import DESK
from sub2sub.vicinity.proximity import proximity
from sub2sub.vicinity.rules import FAR, NONE, drop, keep_nearest, near_enough, nearest_for, young
from sub2sub.vicinity.settings import VicinitySettings

__all__ = ["NearLinks"]


@kernel
def _gaps(row, size, room, me, boxes, tie):
    """How far each link of a view is, and the farthest of a full one."""
    gaps = np.full(row.shape[0], NONE, np.float32)
    worst = FAR if size < room else np.float32(0.0)
    for k in range(size):
        gaps[k] = proximity(boxes, me, peer_of(row[k]), tie)
        worst = max(worst, gaps[k])
    return gaps, worst


@kernel
def _take_up(row, size, room, me, words, count, boxes, tie, oldest_allowed, key, first):
    """Keep the nearest of a view and of what arrived; the new size."""
    gaps, worst = _gaps(row, size, room, me, boxes, tie)
    far = np.empty(words.shape[0], np.float32)
    for k in range(count):
        far[k] = proximity(boxes, me, peer_of(words[k]), tie)
    mask = near_enough(far, count, worst) & young(words, count, oldest_allowed)
    old = known(words, count, row)
    size, _ = keep_nearest(row, gaps, size, room, worst, words, far, mask, old, tie, key, first)
    return size


@kernel
def _expire(row, size, oldest_allowed):
    """Drop the links that nobody has heard from for too long; the new size, and where the oldest stands."""
    gaps = np.full(row.shape[0], NONE, np.float32)
    place = oldest(row)
    while size > 0 and stamp_of(row[place]) < oldest_allowed:
        size = drop(row, gaps, size, place)
        place = oldest(row)
    return size, place


@kernel
def _offer(target, row, size, random_row, randoms, bits, wanted, boxes, tie, out):
    """The `wanted` links that suit `target` best; how many there are."""
    words, far = np.empty(DESK, np.int64), np.empty(DESK, np.float32)
    gaps = np.empty(max(wanted, 1), np.float32)
    start = below(bits, max(size, 1))
    return nearest_for(
        target, row, size, random_row, randoms, start, wanted, False, boxes, tie, words, far, out, gaps
    )


@kernel
def _bits(key, k):
    return draw(key, k)


class NearLinks:
    """The proximity links of one peer."""

    def __init__(self, own: Descriptor, settings: VicinitySettings) -> None:
        self.own, self.settings = own, settings
        self.view: list[Link] = []

    def feed(self, randoms: Sequence[Link], now: int, key: np.uint64, first: int) -> Descriptor | None:
        """Take up random links, drop old ones; returns the partner to turn to, None if nobody is left."""
        self.take_up(randoms, now, key, first)
        if not self.view:
            return None
        crowd = Crowd(link.peer for link in self.view)
        row = crowd.row(self.view, self.settings.view)
        size, place = _expire(row, len(self.view), self._oldest_allowed(now))
        self.view = crowd.links(row, int(size))
        return self.view[int(place)].peer if self.view else None

    def offer(
        self, target: Descriptor, randoms: Sequence[Link], now: int, key: np.uint64, start: int
    ) -> list[Link]:
        """What suits `target` best of what is known, and oneself."""
        known_peers = [link.peer for link in (*self.view, *randoms)]
        crowd = Crowd([self.own, *known_peers, target])
        out = np.empty(max(self.settings.shuffle, 1), np.int64)
        row, random_row = crowd.row(self.view, self.settings.view), crowd.row(randoms, 1)
        count = _offer(
            crowd.number[target.id], row, len(self.view), random_row, len(randoms),
            np.uint64(_bits(key, start)), self.settings.shuffle - 1, crowd.boxes, int(self.settings.tie), out,
        )  # fmt: skip
        return [*crowd.links(out, int(count)), Link(self.own, now)]

    def take_up(self, received: Sequence[Link], now: int, key: np.uint64, first: int) -> None:
        """Keep the nearest of one's own links and those received."""
        crowd = Crowd([self.own, *(link.peer for link in (*self.view, *received))])
        row, words = crowd.row(self.view, self.settings.view), crowd.row(received, 1)
        size = _take_up(
            row, len(self.view), self.settings.view, crowd.number[self.own.id], words, len(received),
            crowd.boxes, int(self.settings.tie), self._oldest_allowed(now), key, first,
        )  # fmt: skip
        self.view = crowd.links(row, int(size))

    def drop(self, peer: Descriptor) -> None:
        """Forget a partner that did not answer; the last link takes its place."""
        for place, link in enumerate(self.view):
            if link.peer.id == peer.id:
                self.view[place] = self.view[-1]
                self.view.pop()
                return

    def _oldest_allowed(self, now: int) -> int:
        return now - self.settings.max_age if self.settings.max_age else 0
