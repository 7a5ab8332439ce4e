"""Systems in which each subscriber has several members in the overlay, and pays for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.systems.interface import Integers, System
from sub2sub.geometry.matching import Members, match


class SeveralMemberships(System):
    """A system whose peers are the subscribers; the host of each member of its overlay is its subscriber."""

    @property
    def peer_of(self) -> Integers:
        """Peers are the subscribers."""
        return np.arange(self.wanted.n)

    def by_subscriber(self, of_members: Integers) -> Integers:
        """Summed over the memberships of each subscriber."""
        mine = self.host < self.wanted.n
        total: Integers = np.bincount(self.host[mine], of_members[mine], self.wanted.n).astype(np.int64)
        return total

    @property
    def host(self) -> Integers:
        """The subscriber of each member."""
        return self.overlay.population.host

    @property
    def alive(self) -> NDArray[np.uint8]:
        """Which subscribers are up: those with a live membership."""
        up = np.zeros(self.wanted.n, np.uint8)
        up[self.host[self.network.alive == 1]] = 1
        return up

    @property
    def matches(self) -> Members:
        """Which subscribers want each event."""
        if self._matched is None:
            wanted = self.wanted
            self._matched = wanted.lows, wanted.points, match(wanted.lows, wanted.highs, wanted.points)
        return self._matched[2]

    def may_publish(self, event: int) -> Integers:
        """Live subscribers that match; of the event's own topic, if interests are topics."""
        wanting: Integers = self.matches.of(event)
        wanting = wanting[self.alive[wanting] == 1]
        if self.wanted.topics is not None:
            wanting = wanting[self.wanted.topics.of[wanting] == self.wanted.topics.of_event[event]]
        return wanting
