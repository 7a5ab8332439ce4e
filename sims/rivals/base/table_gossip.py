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
from sims.rivals.base.accounts import Ledger
from sims.rivals.base.system import Integers, Publication, Truth
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


TopicAndSuperTables = tuple[NDArray[np.int32], NDArray[np.int32], Choices]


def one_table(table: NDArray[np.int32], fanout: int) -> TopicAndSuperTables:
    """A table of each member, the same fan-out for all, and no second table."""
    n = len(table)
    flat = Choices(np.full(n, fanout, np.int32), np.zeros(n), np.zeros(n))
    return table, np.full((n, 1, 1), -1, np.int32), flat


def spread_tables(
    tables: TopicAndSuperTables,
    network: Network,
    truth: Truth,
    asked: Publication,
    keys: Any,
    retries: int = 0,
    starts: Integers | None = None,
) -> Outcome:
    """Spread events over tables of members, (members, k) and (members, slots, z), padded with -1.

    Events start at their publishers, or at these members of theirs. With `retries` above 0 messages are
    acknowledged.
    """
    topic_table, super_table, choices = tables
    starts = asked.publishers if starts is None else starts
    own = np.arange(len(truth.host), dtype=np.int32)
    whole, parameters = Tables(own, topic_table, super_table), Parameters(*choices)
    carrier = Carrier.of(network, retries, truth.places)
    ledger = Ledger(truth, network, asked, starts)
    first, counts = np.empty(len(own), np.int32), np.empty((len(own), 4), np.int64)
    for k, (start, key) in enumerate(zip(starts, keys, strict=True)):
        spread_event(whole, parameters, carrier, start, key, first, counts)
        sent, arrived = counts[:, SENT] + counts[:, UPWARD], counts[:, ARRIVED].copy()
        ledger.enter(k, first, sent, arrived, carrier.agenda.when)
    return ledger.outcome(retries > 0)
