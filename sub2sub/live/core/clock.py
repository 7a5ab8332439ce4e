"""The clock of a live peer, which converts the ages in messages to stamps, and stamps to ages.

A peer stores a *stamp* with each link, as in the simulator: the time at which anybody last heard from the
linked peer. Peers do not share a clock, so messages carry *ages* instead, as in CYCLON: stamp = clock - age.
The time that a message is under way is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

from sub2sub.live.core.messages import Mentions
from sub2sub.peers.descriptors import Descriptor, Link, make_link
from sub2sub.peers.ring import RingLink, make_ring_link

NOBODY: Mapping[int, Descriptor] = {}
START = 1 << 20  # first time of all clocks: above the greatest age in a message, so no stamp is below 0


class Clock:
    """A clock that advances by `unit` in each cycle.

    In the simulator all clocks advance by 1 at the same time. Live peers tick at different times and need a
    finer clock. With whole cycles, of the copies of a link on many paths the one that met the fewest ticks
    would look youngest and win, and links to dead peers would stay much too long.

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
        """Advance within the cycle, of which the given part is over.

        The clock stops at the end of the cycle until the next tick: a peer whose tick is late must not take
        others for dead whose messages it has not handled yet.
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
        """Links for mentions, except those of the peer itself, of other dimensions, or refused before.

        In a view that has converged, nearly all were refused before; skipping them here saves their objects.
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
        """Ring links for mentions, with the same exceptions."""
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
