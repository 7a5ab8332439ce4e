"""Accounting one event at a time, for systems that follow each event in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.systems.gossip import Truth
from sims.systems.interface import Integers, System
from sub2sub.events.accounting import ACKS, FAILED, MESSAGES, account, outcome_of
from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions


class Ledger:
    """The accounts of some events of a system.

    Parameters
    ----------
    system : System
    events, publishers : (m,) int64
        Numbers of events, and the peers that publish them.
    record : bool
        Whether to record receptions.
    """

    def __init__(self, system: System, events: Integers, publishers: Integers, record: bool) -> None:
        self.events, self.publishers, self.record = events, publishers, record
        self.truth, self.timed = Truth.of(system), system.network.timing is not None
        self.matches = system.matches
        self.totals = self.truth.new_totals(events, self.timed)
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
        """Account for the k-th event, given what each member received and sent."""
        truth, totals = self.truth, self.totals
        wanting = self.matches.of(int(self.events[k]))
        account(k, wanting, self.publishers[k], truth.alive, truth.host, first, sent, arrived, when, totals)
        if self.record:
            self.first.append(first.copy())
            self.when += [when.copy()] if self.timed else []

    def outcome(self, acknowledged: bool) -> Outcome:
        """The outcome, with or without an acknowledgement of every message that arrived."""
        totals = self.totals
        if acknowledged:
            totals.events[:, ACKS] = totals.events[:, MESSAGES] - totals.events[:, FAILED]
        received = None
        if self.first:
            times = np.stack(self.when) if self.timed else None
            received = Receptions.of_members(np.stack(self.first), self.truth.host, times)
        return outcome_of(totals, self.publishers, received)
