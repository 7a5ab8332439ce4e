"""Publishing over tables: CAMCAST's kernel, for many events, with totals by subscriber.

`hierarchy.camcast.dissemination` has one fan-out and one chance of sending upward for each community. Here
every member is passed to it as a community of its own, so that each has the fan-out that it chose itself. The
draws are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.dissemination import ARRIVED, SENT, UPWARD, Carrier, spread_event
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from sims.systems.interface import System
from sub2sub.events.accounting import (
    ACKS,
    FAILED,
    MESSAGES,
    Totals,
    account,
    new_totals,
    outcome_of,
)
from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions
from sub2sub.geometry.matching import Members
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, peer_key, stream_number
from sub2sub.overlay.network import Network

STREAM = stream_number("compare/gossip")

Integers = NDArray[np.int64]


class Choices(NamedTuple):
    """What each member does with an event.

    Attributes
    ----------
    targets : (members,) int32
        Entries of its topic table that it sends to.
    upward : (members,) float64
        The chance that it uses its super-topic tables.
    entry : (members,) float64
        The chance that it then sends to one entry of them.
    """

    targets: NDArray[np.int32]
    upward: NDArray[np.float64]
    entry: NDArray[np.float64]

    @classmethod
    def flat(cls, members: int, fanout: int) -> Choices:
        """The same fan-out for all, and no second table."""
        return cls(np.full(members, fanout, np.int32), np.zeros(members), np.zeros(members))


class Truth(NamedTuple):
    """What only accounting knows: the peer of each member, which peers are up, which match each event.

    Attributes
    ----------
    host, places : (members,) int64
        The peer of each member, and the host it runs on.
    alive : (peers,) uint8
    offsets, members : int64
        As of `sub2sub.geometry.matching.Members`, of peers.
    """

    host: Integers
    places: Integers
    alive: NDArray[np.uint8]
    offsets: Integers
    members: Integers

    @classmethod
    def of(cls, system: System) -> Truth:
        """The truth of a system."""
        return cls(system.host, system.places, system.alive, *system.matches)

    def new_totals(self, events: Integers, timed: bool) -> Totals:
        """Totals for events with these numbers, with times or without."""
        members = Members(self.offsets, self.members)
        return new_totals(len(events), len(self.alive), (members, events) if timed else None)


def keys_of(seed: int, salt: int, events: Integers) -> NDArray[np.uint64]:
    """Keys for the draws of events with these numbers."""
    key = cycle_key(seed, STREAM, salt)
    return np.array([peer_key(key, event) for event in events.tolist()], np.uint64)


def spread_tables(
    tables: tuple[NDArray[np.int32], NDArray[np.int32], Choices],
    network: Network,
    truth: Truth,
    events: Integers,
    starts: Integers,
    publishers: Integers,
    keys: NDArray[np.uint64],
    retries: int = 0,
    record: bool = False,
) -> Outcome:
    """Spread events over tables.

    Parameters
    ----------
    tables : (topic_table, super_table, choices)
        Members, (members, k) and (members, slots, z), packed to the left and padded with -1; and what each
        member does with an event.
    network : Network
        Of the members.
    truth : Truth
    events, starts, publishers : (m,) int64
        Numbers of events, the member each starts at, and the peer that publishes it.
    keys : (m,) uint64
        Of each event's draws.
    retries : int
        How often a message is repeated that is not acknowledged; with 0 there are no acknowledgements.
    record : bool
        Whether to record receptions.
    """
    topic_table, super_table, choices = tables
    own = np.arange(len(truth.host), dtype=np.int32)
    whole = Tables(own, topic_table, super_table)
    carrier = Carrier.of(network, retries, truth.places)
    totals = truth.new_totals(events, carrier.clock.timed)
    first = np.empty((len(events) if record else 1, len(own)), np.int32)
    when = np.empty((len(events) if record and carrier.clock.timed else 0, len(own)))
    _spread_all(
        whole, Parameters(*choices), carrier, truth, (events, starts, publishers), keys, (first, when), totals
    )
    if retries:
        totals.events[:, ACKS] = totals.events[:, MESSAGES] - totals.events[:, FAILED]
    received = Receptions.of_members(first, truth.host, when) if record else None
    return outcome_of(totals, publishers, received)


@kernel
def _spread_all(tables, parameters, carrier, truth, published, keys, traced, totals):
    events, starts, publishers = published
    first, when = traced
    counts = np.empty((len(truth.host), 4), np.int64)
    for k in range(len(events)):
        own = first[min(k, len(first) - 1)]
        spread_event(tables, parameters, carrier, starts[k], keys[k], own, counts)
        e = events[k]
        wanting = truth.members[truth.offsets[e] : truth.offsets[e + 1]]
        sent, arrived, reached = counts[:, SENT] + counts[:, UPWARD], counts[:, ARRIVED], carrier.agenda.when
        account(k, wanting, publishers[k], truth.alive, truth.host, own, sent, arrived, reached, totals)
        if k < len(when):
            when[k] = reached


class TableGossip(System):
    """A system that gossips over two tables of each member."""

    def spread(
        self,
        tables: tuple[NDArray[np.int32], NDArray[np.int32], Choices],
        events: Integers,
        starts: Integers,
        publishers: Integers,
        salt: int,
        retries: int,
        record: bool,
        network: Network | None = None,
    ) -> Outcome:
        """Call `spread_tables` with the network, truth and keys of this system."""
        keys = keys_of(self.seed, salt, events)
        return spread_tables(
            tables, network or self.network, Truth.of(self), events, starts, publishers, keys, retries, record
        )
