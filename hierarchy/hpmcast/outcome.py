"""What the dissemination of one event did, and what it cost whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """The trace of one event.

    Attributes
    ----------
    round : (n,) int32
        The round a participant got the event in: 0 for the publisher, -1 for those it did not reach.
    sent, received : (n,) int32
        Messages per participant.
    filtered : (n,) int32
        Times a participant matched the event against somebody's interest.
    messages : (l,) int64
        Messages sent at each level, level 1 first.
    letters : (m, 2) int32
        Senders and receivers of the messages that arrived, in order, if they were recorded.
    rounds : int
        The last round in which anybody gossiped.
    publisher : int
    alive : (n,) uint8

    Examples
    --------
    >>> one, none = np.ones(3, np.int32), np.zeros(3, np.int32)
    >>> reached, up = np.array([0, 1, -1], np.int32), np.ones(3, np.uint8)
    >>> letters = np.zeros((0, 2), np.int32)
    >>> trace = Outcome(reached, one, one, none, np.array([3]), letters, rounds=1, publisher=0, alive=up)
    >>> trace.delivery([1, 0, 1]), trace.parasites([1, 0, 1])
    (0.5, 1)
    """

    round: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    letters: NDArray[np.int32]
    rounds: int
    publisher: int
    alive: NDArray[np.uint8]

    @property
    def infected(self) -> NDArray[np.bool_]:
        """Who has the event in the end."""
        reached: NDArray[np.bool_] = self.round >= 0
        return reached

    @property
    def last(self) -> int:
        """The round in which the last participant was reached."""
        return int(self.round.max())

    def delivery(self, interested: ArrayLike) -> float:
        """The share of the live interested participants that got the event (1 where there are none)."""
        wanted = np.asarray(interested, bool) & (self.alive == 1)
        return float(self.infected[wanted].mean()) if wanted.any() else 1.0

    def parasites(self, interested: ArrayLike) -> int:
        """Participants that got an event they do not want, the publisher apart: feigned multicast."""
        touched = self.infected & ~np.asarray(interested, bool)
        touched[self.publisher] = False
        return int(touched.sum())

    def load_by_level(self, top: NDArray[np.int32]) -> dict[int, dict[str, float]]:
        """Mean messages and filterings per participant, by the highest level it is a delegate at.

        Parameters
        ----------
        top : (n,) int32
            `Views.top`.
        """
        load = {}
        for level in np.unique(top).tolist():
            members = top == level
            load[level] = {
                "participants": float(members.sum()),
                "sent": float(self.sent[members].mean()),
                "received": float(self.received[members].mean()),
                "filtered": float(self.filtered[members].mean()),
            }
        return load
