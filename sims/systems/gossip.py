"""Publishing over tables with CAMCAST's kernel.

`hierarchy.compiled.camcast.dissemination` has one fan-out and one probability of sending upward for each
community. Here every member is passed to it as a community of its own, so that each has the fan-out that it
chose itself. The draws are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.settings import Parameters
from hierarchy.compiled.camcast.dissemination import ARRIVED, SENT, UPWARD, Carrier, spread_event
from hierarchy.compiled.camcast.tables import Tables
from sims.systems.interface import Integers, System
from sims.systems.ledger import Ledger, Truth, keys_of
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.outcome import Outcome


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
    """Spread events over tables of members, (members, k) and (members, slots, z), padded with -1.

    Each event has a number, a member it starts at, a peer that publishes it, and a key of its draws. With
    `retries` above 0 messages are acknowledged; `record` asks for receptions.
    """
    topic_table, super_table, choices = tables
    own = np.arange(len(truth.host), dtype=np.int32)
    whole, parameters = Tables(own, topic_table, super_table), Parameters(*choices)
    carrier = Carrier.of(network, retries, truth.places)
    ledger = Ledger(truth, network, events, publishers, record)
    first, counts = np.empty(len(own), np.int32), np.empty((len(own), 4), np.int64)
    for k, (start, key) in enumerate(zip(starts, keys, strict=True)):
        spread_event(whole, parameters, carrier, start, key, first, counts)
        sent, arrived = counts[:, SENT] + counts[:, UPWARD], counts[:, ARRIVED].copy()
        ledger.enter(k, first, sent, arrived, carrier.agenda.when)
    return ledger.outcome(retries > 0)


class TableGossip(System):
    """A system that gossips over two tables of each member."""

    def spread(
        self, tables: Any, events: Integers, publishers: Integers, settings: Any, salt: int, record: bool,
        starts: Integers | None = None, network: Network | None = None, truth: Truth | None = None,
    ) -> Outcome:  # fmt: skip
        """`spread_tables` with the network, truth and keys of this system, by default from publishers."""
        starts, keys = publishers if starts is None else starts, keys_of(self.seed, salt, events)
        return spread_tables(
            tables, network or self.network, truth or Truth.of(self), events, starts, publishers, keys,
            settings.retries, record,
        )  # fmt: skip
