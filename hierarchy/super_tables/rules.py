"""Keeping super-topic tables: MERGE, CHECK and the answers to requests. CAMCAST Figures 5 and 6.

MERGE keeps the entries a table has, adds new ones in free places, and prefers nearer supertopics: entries
of a nearer one than all present replace them, entries of a farther one are ignored. CHECK drops the
entries that do not answer, so their places are free for the next MERGE.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.channel import Channel, arrives
from hierarchy.super_tables.slots import Slots, chain_place
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw

FAR = 1 << 30


class State(NamedTuple):
    """Super-topic tables of all members and how their searches stand.

    Attributes
    ----------
    topic : (n,) int32
        Community of each member.
    table : (n, slots, z) int32
        Super-topic tables; rows packed to the left, padded with -1.
    scope : (n, slots) int32
        How many topics of the chain a search names by now; 0 when none is under way.
    due : (n, slots) int32
        Cycle of the next request.
    fresh : (n, slots) uint8
        1 for a table that changed and is to be passed on with the next membership update.
    """

    topic: NDArray[np.int32]
    table: NDArray[np.int32]
    scope: NDArray[np.int32]
    due: NDArray[np.int32]
    fresh: NDArray[np.uint8]


class Search(NamedTuple):
    """Requests of one cycle, and what it takes to serve them.

    Attributes
    ----------
    state, slots, topic_table
        What all members know: super-topic tables, the chains these may be filled from, topic tables.
    requests : (m, 3) int64
        Rows of (member, slot, scope): who searches for which of the first `scope` topics of a slot's chain.
    wanted : int
        How many candidates a request wants at most.
    cycle, seed, channel
        When, with which draws, and through which network.
    """

    state: State
    slots: Slots
    topic_table: NDArray[np.int32]
    requests: NDArray[np.int64]
    wanted: int
    cycle: int
    seed: int
    channel: Channel

    def nothing(self) -> NDArray[np.int32]:
        """A row of free places for the candidates of each request."""
        return np.full((len(self.requests), self.wanted), -1, np.int32)


@kernel
def entries(row):
    """How many entries a row has."""
    count = 0
    while count < len(row) and row[count] >= 0:
        count += 1
    return count


@kernel
def table_place(topic, row, slots, slot):
    """How far up the chain the entries of a table stand; `FAR` if it is empty."""
    if row[0] < 0:
        return FAR
    return chain_place(slots, slot, topic[row[0]])


@kernel
def merge(topic, row, limit, slots, slot, candidate):
    """Take one candidate into a table of at most `limit` entries; returns whether the table changed."""
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
def ask(channel, member, other, own, k):
    """Whether a question and its answer get through; takes two draws."""
    asked = arrives(channel, member, other, draw(own, k))
    return asked and arrives(channel, other, member, draw(own, k + 1))


@kernel
def check(row, member, tries, channel, own, k):
    """Ask all entries whether they are there, and drop those that are not; returns (messages, next draw).

    Who does not answer is asked again, up to `tries` times in all; then a lost message looks like a crash.
    """
    count = entries(row)
    silent = np.ones(count, np.bool_)
    messages = 0
    for _ in range(tries):
        for i in range(count):
            if silent[i]:
                silent[i] = not ask(channel, member, row[i], own, k)
                k += 2
                messages += 2
    kept = 0
    for i in range(count):
        if not silent[i]:
            row[kept] = row[i]
            kept += 1
    row[kept:] = -1
    return messages, k


@kernel
def answer(state, slots, slot, scope, topic_table, asked, wanted, out, own, k):
    """What `asked` knows of the first `scope` topics of a chain: itself and its community, or its supers.

    Fills `out` with at most `wanted` members of the nearest such topic; returns the next draw. Empty if it
    knows none.
    """
    out[:] = -1
    place = chain_place(slots, slot, state.topic[asked])
    if 0 <= place < scope:
        out[0] = asked
        community = topic_table[asked]
        size = entries(community)
        for i in range(1, min(wanted, size + 1)):
            # Different ones of its table, by chance; a repeated one is left out by MERGE.
            out[i] = community[below(draw(own, k), size)]
            k += 1
        return k
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
    return k
