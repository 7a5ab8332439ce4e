"""The clock of a live peer, by which it turns the ages that messages tell into stamps, and back.

Inside a peer a link has a *stamp*, when its peer was last heard from, as in the simulator. Peers do not share
a clock, so a message says an *age* instead (CYCLON's own way): stamp = clock - age. The time on the wire is
not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

from sub2sub.live.core.messages import Mentions
from sub2sub.overlay.descriptors import Descriptor, Link, make_link
from sub2sub.ring.peer import RingLink, make_ring_link

NOBODY: Mapping[int, Descriptor] = {}
START = 1 << 20  # of clocks, so that no stamp of a link one may be told of is below 0


class Clock:
    """A clock that moves by `unit` in a cycle.

    In the simulator everybody's clock moves at once, by 1. Peers that tick on their own need a finer one: of
    many ways a link comes by, the one on which fewest ticks fell would make it look youngest, and links to
    dead peers would live much too long.

    Attributes
    ----------
    now : int
    turn : int
        Cycles so far.

    Examples
    --------
    >>> clock = Clock(unit=100, now=0)
    >>> clock.tick()
    >>> clock.advance(0.25)
    >>> clock.now, clock.turn
    (125, 1)
    """

    def __init__(self, unit: int = 1, now: int = START) -> None:
        self.unit, self.now, self.turn = unit, now, 0
        self._ticked = now

    def tick(self) -> None:
        """Move to the next cycle."""
        self.turn += 1
        self._ticked += self.unit
        self.now = self._ticked

    def advance(self, part: float) -> None:
        """Move on within a cycle of which that part is over.

        It waits at the end until the next tick: a peer that comes to its ticks late must not take others
        for dead that had no chance to tell it otherwise.
        """
        self.now = max(self.now, self._ticked + min(int(part * self.unit), self.unit - 1))

    def mentions(self, links: Sequence[Link]) -> Mentions:
        """Links as a message mentions them."""
        return Mentions(tuple([link[0] for link in links]), self._ages([link[1] for link in links]))

    def ring_mentions(self, links: Sequence[RingLink]) -> Mentions:
        """Ring links as a message mentions them."""
        ages, held = self._ages([link[1] for link in links]), self._ages([link[2] for link in links])
        return Mentions(tuple([link[0] for link in links]), ages, held if any(held) else ())

    def links(
        self, mentions: Mentions, own: Descriptor, refused: Mapping[int, Descriptor] = NOBODY
    ) -> list[Link]:
        """Mentions as links, but for those of oneself, of another number of attributes, or refused before.

        In a view that has converged nearly all were, so nothing is made of them.
        """
        now, id, d = self.now, own.id, own.d
        return [
            make_link((peer, now - age))
            for peer, age in zip(mentions.peers, mentions.ages, strict=True)
            if refused.get(its := peer.id) is not peer and its != id and len(peer.low) == d
        ]

    def ring_links(
        self, mentions: Mentions, own: Descriptor, refused: Mapping[int, Descriptor] = NOBODY
    ) -> list[RingLink]:
        """The same of ring links."""
        now, id, d = self.now, own.id, own.d
        return [
            make_ring_link((peer, now - age, now - held))
            for peer, age, held in zip(
                mentions.peers, mentions.ages, mentions.held or repeat(0), strict=False
            )
            if refused.get(its := peer.id) is not peer and its != id and len(peer.low) == d
        ]

    def _ages(self, stamps: list[int]) -> tuple[int, ...]:
        now = self.now
        if stamps and max(stamps) > now:
            return tuple([max(now - stamp, 0) for stamp in stamps])
        return tuple([now - stamp for stamp in stamps])
