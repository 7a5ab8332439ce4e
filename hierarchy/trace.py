"""The way of one event through a gossip protocol: when each member got it, and how much each sent.

This is what the protocols of this package report of an event. They do not know which members want it: with
that added, `sub2sub.events.accounting` makes an `Outcome` of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Trace:
    """The way of one event among n members.

    Attributes
    ----------
    first : (n,) int32
        Round in which each member received the event first: 0 for the publisher, -1 for never.
    sent, received : (n,) integers
        Messages that each member sent, and copies that arrived there.
    publisher : int
    alive : (n,) uint8
    when : (n,) float64
        Time of the first reception, infinity for never: milliseconds in a network with latencies, else hops.

    Examples
    --------
    >>> reached, up = np.array([0, 1, -1], np.int32), np.ones(3, np.uint8)
    >>> trace = Trace(reached, np.array([2, 1, 0]), np.array([1, 1, 0]), publisher=0, alive=up)
    >>> trace.delivery([1, 0, 1]), trace.parasites([1, 0, 1]), trace.last
    (0.5, 1, 1)
    """

    first: NDArray[np.int32]
    sent: NDArray[Any]
    received: NDArray[Any]
    publisher: int
    alive: NDArray[np.uint8]
    when: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Who has the event in the end."""
        reached: NDArray[np.bool_] = self.first >= 0
        return reached

    @property
    def last(self) -> int:
        """The round in which the last member was reached."""
        return int(self.first.max())

    def delivery(self, interested: ArrayLike) -> float:
        """The share of the live interested members that got the event (1 where there are none)."""
        wanted = np.asarray(interested, bool) & (self.alive == 1)
        return float(self.reached[wanted].mean()) if wanted.any() else 1.0

    def parasites(self, interested: ArrayLike) -> int:
        """Members that got an event they do not want, the publisher apart: feigned multicast."""
        touched = self.reached & ~np.asarray(interested, bool)
        touched[self.publisher] = False
        return int(touched.sum())
