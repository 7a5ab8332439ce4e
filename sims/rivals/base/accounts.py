"""Accounting: the outcome of each event and its cost for each peer; and messages sent one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.rivals.base.system import Integers, Publication, Truth
from sub2sub.compiled.common.network import Network, repeated
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
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.compiled.timing.settings import AGAIN
from sub2sub.errors import require
from sub2sub.peers.draws import Dice, cycle_key, stream_number

STREAM = stream_number("compare/gossip")
ENTERING = -1  # selects the draws of an event's route to where it is pushed


def keys_of(seed: int, salt: int, events: Integers) -> NDArray[np.uint64]:
    """Keys for the draws of events with these numbers."""
    key = cycle_key(seed, STREAM, salt)
    return np.array([peer_key(key, event) for event in events.tolist()], np.uint64)


class Ledger:
    """The accounts of some events, each of which starts at the member that publishes it."""

    def __init__(self, truth: Truth, network: Network, asked: Publication, starts: Integers) -> None:
        self.truth, self.events, self.record = truth, asked.events, asked.record
        self.publishers: Integers = truth.host[starts]
        self.timed = network.timing is not None
        self.totals = new_totals(
            len(self.events), len(truth.alive), (truth.matches, self.events) if self.timed else None
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


@dataclass(frozen=True)
class Retries:
    """Settings of systems that only repeat what is not acknowledged.

    Attributes
    ----------
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    retries: int = 2

    def __post_init__(self) -> None:
        require(self, retries=0)


@dataclass
class RouteSender:
    """Sends the messages of one event on its route, hop by hop.

    A sender whose acknowledgements are all lost learns later that the message arrived, so it does not send it
    another way.

    Attributes
    ----------
    network : Network
    clock : Clock
    dice : Dice
        Random numbers for losses.
    retries : int
        How often a message is repeated that is not acknowledged.
    sent : int
        Messages so far, which number the draws.

    Examples
    --------
    >>> route = RouteSender(Network.whole(2), Clock.of(None, np.arange(2)), Dice(1), retries=2)
    >>> route.send(0, 1, now=4.0)
    (1, 1, 5.0)
    """

    network: Network
    clock: Clock
    dice: Dice
    retries: int
    sent: int = 0

    def send(self, sender: int, target: int, now: float) -> tuple[int, int, float | None]:
        """Send a message; copies sent, those that arrive, and when the first does, None for never."""
        key, faults = np.uint64(self.dice.key), self.network.faults()
        copies, came, first = repeated(faults, sender, target, key, self.sent, self.retries)
        self.sent += 1
        if not came:
            return copies, 0, None
        took = travel(self.clock, sender, target, first, key)
        return copies, came, now + self.clock.occupied + float(took)

    @property
    def silence(self) -> float:
        """How long a sender waits before it considers a target dead."""
        return (self.retries + 1) * AGAIN * self.clock.tick if self.clock.timed else 0.0
