"""Publishing by push, announcement and request, for many events, with the books kept by subscriber."""

from __future__ import annotations

import numpy as np

from sims.anchors.pushing.dissemination import push_event, scratch_for
from sims.anchors.pushing.tables import PushRules, PushTables, Starts
from sims.systems.gossip import Truth, keys_of, recorded
from sims.systems.interface import Integers, System
from sub2sub.events.accounting import (
    ACKS,
    CONTROL,
    FAILED,
    HOPS,
    MESSAGES,
    account,
    open_books,
    outcome_of,
)
from sub2sub.events.outcome import Outcome
from sub2sub.kernels.compilation import kernel
from sub2sub.overlay.network import Network

__all__ = ["Pushed", "push_all"]


def push_all(
    tables: PushTables,
    rules: PushRules,
    network: Network,
    truth: Truth,
    events: Integers,
    publishers: Integers,
    starts: Starts,
    keys: np.ndarray,
    record: bool = False,
) -> Outcome:
    """Push events over tables.

    Parameters
    ----------
    tables, rules : PushTables, PushRules
    network : Network
        Of the members.
    truth : Truth
        For the books.
    events, publishers : (m,) int64
        Numbers of events, and the peers that publish them.
    starts : Starts
        Where each is pushed from.
    keys : (m,) uint64
        Of each event's draws.
    record : bool
        Whether to keep who got what when.
    """
    books = open_books(len(events), len(truth.alive))
    scratch = scratch_for(tables, rules, int(np.diff(starts.first.start).max(initial=1)))
    first = np.empty((len(events) if record else 1, len(truth.host)), np.int32)
    at_hop = _push_all(
        tables, rules, network.faults(), truth, (events, publishers, keys), starts, scratch, first, books
    )
    if rules.retries:
        books.events[:, ACKS] = books.events[:, MESSAGES] - books.events[:, FAILED]
    return outcome_of(books, publishers, at_hop, recorded(first, truth.host) if record else None)


@kernel
def _push_all(tables, rules, faults, truth, published, starts, scratch, first, books):
    events, publishers, keys = published
    at_hop, size = np.empty(64 * len(events) + 64, np.int64), 0
    for k in range(len(events)):
        push_event(tables, rules, faults, starts, k, keys[k], scratch)
        first[min(k, len(first) - 1)] = scratch.first
        e = events[k]
        wanting = truth.members[truth.offsets[e] : truth.offsets[e + 1]]
        account(
            k, wanting, publishers[k], truth.alive, truth.host, scratch.first, scratch.sent, scratch.arrived,
            books,
        )  # fmt: skip
        books.events[k, CONTROL] = scratch.control[0]
        hops = books.events[k, HOPS] + 1
        if size + hops > len(at_hop):
            at_hop = np.append(at_hop, np.empty(len(at_hop) + hops, np.int64))
        at_hop[size : size + hops] = books.at_hop[:hops]
        size += hops
    return at_hop[:size].copy()


class Pushed(System):
    """A system that pushes events over links."""

    def push(
        self,
        tables: PushTables,
        rules: PushRules,
        events: Integers,
        publishers: Integers,
        starts: Starts,
        salt: int,
        record: bool,
        network: Network | None = None,
        truth: Truth | None = None,
    ) -> Outcome:
        """`push_all` with what all these systems have in common."""
        return push_all(
            tables, rules, network or self.network, truth or Truth.of(self), events, publishers, starts,
            keys_of(self.seed, salt, events), record,
        )  # fmt: skip
