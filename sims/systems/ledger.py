"""Events entered into the books one by one, for systems that follow each of them from Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.systems.gossip import Truth
from sims.systems.interface import Integers, System
from sub2sub.events.accounting import ACKS, FAILED, HOPS, MESSAGES, account, outcome_of
from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions

__all__ = ["Ledger"]


class Ledger:
    """The books of some events of a system.

    Parameters
    ----------
    system : System
    events, publishers : (m,) int64
        Numbers of events, and the peers that publish them.
    record : bool
        Whether to keep who got what when.
    """

    def __init__(self, system: System, events: Integers, publishers: Integers, record: bool) -> None:
        self.events, self.publishers, self.record = events, publishers, record
        self.truth, self.timed = Truth.of(system), system.network.timing is not None
        self.matches = system.matches
        self.books = self.truth.open_books(events, self.timed)
        self.at_hop: list[Integers] = [np.empty(0, np.int64)]
        self.first: list[NDArray[np.int32]] = []
        self.when: list[NDArray[np.float64]] = []

    def enter(
        self,
        k: int,
        first: NDArray[np.int32],
        sent: NDArray[Any],
        arrived: NDArray[Any],
        when: NDArray[np.float64],
    ) -> None:
        """What each member received and sent of the k-th event."""
        truth, books = self.truth, self.books
        wanting = self.matches.of(int(self.events[k]))
        account(k, wanting, self.publishers[k], truth.alive, truth.host, first, sent, arrived, when, books)
        self.at_hop.append(books.at_hop[: books.events[k, HOPS] + 1].copy())
        if self.record:
            self.first.append(first.copy())
            self.when += [when.copy()] if self.timed else []

    def outcome(self, acknowledged: bool) -> Outcome:
        """What became of them, with an acknowledgement of every message that arrived or without."""
        books = self.books
        if acknowledged:
            books.events[:, ACKS] = books.events[:, MESSAGES] - books.events[:, FAILED]
        received = None
        if self.first:
            times = np.stack(self.when) if self.timed else None
            received = Receptions.of_members(np.stack(self.first), self.truth.host, times)
        return outcome_of(books, self.publishers, np.concatenate(self.at_hop), received)
