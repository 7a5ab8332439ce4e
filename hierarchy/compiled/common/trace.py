"""The trace of one event in a gossip protocol: when each member received it, and how much each sent.

All protocols of this package return a trace. It does not know which members are interested in the event;
`sub2sub.compiled.events.accounting` adds that and makes an `Outcome`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Trace:
    """The trace of one event among n members.

    Attributes
    ----------
    first : (n,) int32
        Round in which each member first received the event: 0 for the publisher, -1 for never.
    sent, received : (n,) integers
        Messages that each member sent, and copies that it received.
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
        """Which members received the event."""
        reached: NDArray[np.bool_] = self.first >= 0
        return reached

    @property
    def last(self) -> int:
        """The round in which the last member was reached."""
        return int(self.first.max())

    def delivery(self, interested: ArrayLike) -> float:
        """The share of the live interested members that received the event (1 if there are none)."""
        wanted = np.asarray(interested, bool) & (self.alive == 1)
        return float(self.reached[wanted].mean()) if wanted.any() else 1.0

    def parasites(self, interested: ArrayLike) -> int:
        """Number of members except the publisher that received the event and are not interested in it."""
        touched = self.reached & ~np.asarray(interested, bool)
        touched[self.publisher] = False
        return int(touched.sum())
