"""CYCLON for one live peer: `sub2sub.cyclon.layer`'s rules on the peers it knows.

In the simulator an exchange is over before anything else happens. Here a peer may be asked by others while
it waits for its partner's reply: what it has sent away is therefore remembered by peer, and only what is
still in the view when the reply comes may be overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.rules import ANSWERED, SENT, remember, shuffle_merge, shuffle_news, take
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.kernels.compilation import kernel
from sub2sub.live.core.descriptors import Descriptor, Link
from sub2sub.live.core.known_peers import Crowd
from sub2sub.overlay.views import oldest, sample

__all__ = ["RandomLinks", "Shuffling"]


@dataclass(frozen=True)
class Shuffling:
    """An exchange a peer has begun: with whom, what it sent away, and whether it was a second attempt."""

    partner: Descriptor
    sent: frozenset[int]
    again: bool


@kernel
def _choose(row, size, count, key, first, out):
    """A random set of `count` links: copied to `out`, and as a mask."""
    places = sample(size, count, key, first)
    take(row, places, out)
    return places


@kernel
def _merge(owner, row, size, room, sent, received, count):
    return shuffle_merge(row, size, room, sent, received, shuffle_news(owner, row, received, count))


class RandomLinks:
    """The random links of one peer.

    Parameters
    ----------
    own : Descriptor
    settings : CyclonSettings
        `tries` has no meaning over TCP, which repeats by itself.
    phase : int
        Shifts the cycles in which the peer turns to a partner that did not answer.
    """

    def __init__(self, own: Descriptor, settings: CyclonSettings, phase: int) -> None:
        self.own, self.settings, self.phase = own, settings, phase
        self.view: list[Link] = []
        self.lost: Descriptor | None = None
        self.in_vain = False  # whether `lost` was tried again, and did not answer again

    def begin(self, turn: int, now: int, key: np.uint64) -> tuple[Shuffling, list[Link]] | None:
        """Choose a partner and what to send it in the peer's turn; nothing if nobody is known."""
        s, lost = self.settings, self.lost
        again = s.retry > 0 and lost is not None and (not self.view or (turn + self.phase) % s.retry == 0)
        if not self.view and not again:
            return None
        crowd = Crowd([self.own, *(link.peer for link in self.view)])
        row = crowd.row(self.view, s.view)
        if again and lost is not None:
            partner = lost
        else:
            place = int(oldest(row))
            partner = self.view[place].peer
            self.view[place] = self.view[-1]
            self.view.pop()
            row = crowd.row(self.view, s.view)
        places, going = self._chosen(crowd, row, min(s.shuffle - 1, len(self.view)), key, SENT)
        sent = frozenset(self.view[k].peer.id for k in range(len(self.view)) if places >> k & 1)
        return Shuffling(partner, sent, again), [*going, Link(self.own, now)]

    def answer(self, received: Sequence[Link], key: np.uint64) -> list[Link]:
        """Take up what a request brought; returns what to send back."""
        crowd = self._crowd(received)
        row = crowd.row(self.view, self.settings.view)
        places, coming = self._chosen(crowd, row, min(self.settings.shuffle, len(self.view)), key, ANSWERED)
        self._take_up(crowd, row, places, received)
        return coming

    def finish(self, shuffling: Shuffling, received: Sequence[Link]) -> None:
        """Take up what a reply brought."""
        if shuffling.again:
            self.lost = None
        crowd = self._crowd(received)
        places = sum(1 << k for k, link in enumerate(self.view) if link.peer.id in shuffling.sent)
        self._take_up(crowd, crowd.row(self.view, self.settings.view), places, received)

    def fail(self, shuffling: Shuffling) -> None:
        """Note that a partner did not answer."""
        peers = [shuffling.partner, *([self.lost] if self.lost else [])]
        number = {peer: k for k, peer in enumerate(peers)}
        before = -1 if self.lost is None else number[self.lost]
        if self.in_vain and before >= 0:
            before = -2 - before
        after = int(remember(before, number[shuffling.partner], shuffling.again))
        self.in_vain = after < -1
        self.lost = peers[-2 - after if self.in_vain else after]

    def _crowd(self, received: Sequence[Link]) -> Crowd:
        return Crowd([self.own, *(link.peer for link in self.view), *(link.peer for link in received)])

    def _chosen(
        self, crowd: Crowd, row: NDArray[np.int64], count: int, key: np.uint64, first: int
    ) -> tuple[int, list[Link]]:
        out = np.empty(max(count, 1), np.int64)
        places = int(_choose(row, len(self.view), count, key, first, out))
        return places, crowd.links(out, count)

    def _take_up(self, crowd: Crowd, row: NDArray[np.int64], sent: int, received: Sequence[Link]) -> None:
        words = crowd.row(received, 1)
        size = _merge(
            crowd.number[self.own.id], row, len(self.view), self.settings.view, sent, words, len(received)
        )
        self.view = crowd.links(row, int(size))
