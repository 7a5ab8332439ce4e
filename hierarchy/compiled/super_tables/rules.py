"""Maintenance of super-topic tables: MERGE, CHECK and the answers to requests (CAMCAST, Figures 5 and 6).

MERGE keeps the entries of a table, adds new ones while there is space, and prefers nearer supertopics:
entries of a nearer supertopic replace all others, entries of a farther one are ignored. CHECK drops the
entries that do not answer, which makes space for the next MERGE. `hierarchy.peers.super_table` has the same
rules for one member.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.common.channel import Channel, ask, next_bits
from hierarchy.compiled.common.rows import entries
from hierarchy.compiled.super_tables.slots import Slots, chain_place
from sub2sub.compiled.common.randomness import below
from sub2sub.compiled.machinery.compilation import kernel

FAR = 1 << 30


class State(NamedTuple):
    """Super-topic tables of all n members, and the state of their searches."""

    topic: NDArray[np.int32]  # (n,) community of each member
    table: NDArray[np.int32]  # (n, slots, z) super-topic tables; rows packed to the left, padded with -1
    scope: NDArray[np.int32]  # (n, slots) number of topics of the chain that a search names; 0: no search
    due: NDArray[np.int32]  # (n, slots) cycle of the next request
    fresh: NDArray[np.uint8]  # (n, slots) 1 for a table that changed and is sent with the next update


class MemberTables(NamedTuple):
    """The tables of all members: super-topic tables, the chains of their slots, topic tables."""

    state: State
    slots: Slots
    topic_table: NDArray[np.int32]


class Search(NamedTuple):
    """The requests of one cycle, and the data to serve them."""

    tables: MemberTables
    requests: NDArray[np.int64]  # (m, 3) member, slot, and the number of topics of its chain to search for
    wanted: int  # maximum number of candidates for a request
    cycle: int
    seed: int
    channel: Channel

    def nothing(self) -> NDArray[np.int32]:
        """An empty row of candidates for each request."""
        return np.full((len(self.requests), self.wanted), -1, np.int32)


@kernel
def table_place(topic, row, slots, slot):
    """Position of the topic of a table's entries in the chain; `FAR` if it is empty."""
    if row[0] < 0:
        return FAR
    return chain_place(slots, slot, topic[row[0]])


@kernel
def merge(topic, row, limit, slots, slot, candidate):
    """Merge one candidate into a table of at most `limit` entries; returns whether the table changed."""
    place = chain_place(slots, slot, topic[candidate])
    now = table_place(topic, row, slots, slot)
    if place < 0 or place > now:
        return False
    if place < now:
        row[:] = -1
        row[0] = candidate
        return True
    count = entries(row)
    for i in range(count):
        if row[i] == candidate:
            return False
    if count >= limit:
        return False
    row[count] = candidate
    return True


@kernel
def check(row, member, tries, channel):
    """Drop the entries that do not answer, after at most `tries` questions; returns the messages.

    A live entry is dropped if a message is lost in every try.
    """
    count = entries(row)
    silent = np.ones(count, np.bool_)
    messages = 0
    for _ in range(tries):
        for i in range(count):
            if silent[i]:
                silent[i] = not ask(channel, member, row[i])
                messages += 2
    kept = 0
    for i in range(count):
        if not silent[i]:
            row[kept] = row[i]
            kept += 1
    row[kept:] = -1
    return messages


@kernel
def answer(tables, slot, scope, asked, wanted, out, channel):
    """Write the members of the first `scope` topics of a chain that `asked` knows.

    Fills `out` with at most `wanted` members of the nearest such topic: itself and its community, or entries
    of its super-topic tables.
    """
    state, slots, topic_table = tables
    out[:] = -1
    place = chain_place(slots, slot, state.topic[asked])
    if 0 <= place < scope:
        out[0] = asked
        community = topic_table[asked]
        size = entries(community)
        for i in range(1, min(wanted, size + 1)):
            # Random entries of its table; MERGE ignores repeated ones.
            out[i] = community[below(next_bits(channel), size)]
        return
    best, best_slot = np.int64(scope), -1
    for other in range(slots.first[state.topic[asked]], slots.first[state.topic[asked] + 1]):
        row = state.table[asked, other - slots.first[state.topic[asked]]]
        if row[0] >= 0:
            place = chain_place(slots, slot, state.topic[row[0]])
            if 0 <= place < best:
                best, best_slot = place, other - slots.first[state.topic[asked]]
    if best_slot >= 0:
        row = state.table[asked, best_slot]
        for i in range(min(wanted, len(row))):
            out[i] = row[i]
