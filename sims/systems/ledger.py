"""Accounting: the outcome of each event, and its cost for each peer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.systems.interface import Integers, System
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.events.accounting import (
    ACKS,
    CONTROL,
    FAILED,
    MESSAGES,
    account,
    new_totals,
    outcome_of,
)
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.events.receptions import Receptions
from sub2sub.geometry.matching import Members
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("compare/gossip")


class Truth(NamedTuple):
    """What only accounting knows: the peer of each member, which peers are up, which match each event.

    Attributes
    ----------
    host, places : (members,) int64
        The peer of each member, and the host it runs on.
    alive : (peers,) uint8
    matches : Members
        The peers that match each event.
    """

    host: Integers
    places: Integers
    alive: NDArray[np.uint8]
    matches: Members

    @classmethod
    def of(cls, system: System) -> Truth:
        """The truth of a system."""
        return cls(system.host, system.places, system.alive, system.matches)


def keys_of(seed: int, salt: int, events: Integers) -> NDArray[np.uint64]:
    """Keys for the draws of events with these numbers."""
    key = cycle_key(seed, STREAM, salt)
    return np.array([peer_key(key, event) for event in events.tolist()], np.uint64)


class Ledger:
    """The accounts of some events, given by their numbers, and of the peers that publish them.

    With `record` it also keeps which peer received which event.
    """

    def __init__(
        self, truth: Truth, network: Network, events: Integers, publishers: Integers, record: bool
    ) -> None:
        self.truth, self.events, self.publishers, self.record = truth, events, publishers, record
        self.timed = network.timing is not None
        self.totals = new_totals(
            len(events), len(truth.alive), (truth.matches, events) if self.timed else None
        )
        self.first: list[NDArray[np.int32]] = []
        self.when: list[NDArray[np.float64]] = []

    def enter(
        self,
        k: int,
        first: NDArray[np.int32],
        sent: NDArray[Any],
        arrived: NDArray[Any],
        when: NDArray[np.float64],
        control: int = 0,
    ) -> None:
        """Account for the k-th event, given what each member received and sent, and the control messages."""
        truth, totals = self.truth, self.totals
        wanting = truth.matches.of(int(self.events[k]))
        account(k, wanting, self.publishers[k], truth.alive, truth.host, first, sent, arrived, when, totals)
        totals.events[k, CONTROL] = control
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
