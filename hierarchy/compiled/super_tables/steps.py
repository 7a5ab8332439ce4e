"""The phases of `SuperTables.step`, each for all members one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.common.channel import ask, begin_turn, next_bits, send
from hierarchy.compiled.common.rows import entries
from hierarchy.compiled.super_tables.rules import answer, check, merge, table_place
from sub2sub.compiled.common.randomness import draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel

PASS_ON, KEEP_UPDATED, SEARCH = range(-3, 0)  # keys of the phases' random numbers


class Limits(NamedTuple):
    """Settings z and tau of each topic, and how many times an entry is asked in a check."""

    z: NDArray[np.int64]
    tau: NDArray[np.int64]
    tries: int


@kernel
def adopt(state, slots, peers, contacts, z):
    """Put each peer's contact into the table whose chain contains its topic."""
    for i in range(len(peers)):
        if contacts[i] >= 0:
            t = state.topic[peers[i]]
            for slot in range(slots.first[t], slots.first[t + 1]):
                row = state.table[peers[i], slot - slots.first[t]]
                merge(state.topic, row, z[t], slots, slot, np.int32(contacts[i]))


@kernel
def merge_all(state, slots, slot, member, place, candidates, limit):
    """Merge candidates into a member's table of at most `limit` entries; note whether it changed."""
    for candidate in candidates:
        if candidate >= 0 and merge(state.topic, state.table[member, place], limit, slots, slot, candidate):
            state.fresh[member, place] = 1


@kernel
def deactivate(state, slots):
    """Empty the tables of branches above a chain that has members again."""
    for member in range(len(state.topic)):
        t = state.topic[member]
        for slot in range(slots.first[t], slots.first[t + 1]):
            if not is_active(state, slots, member, slot):
                place = slot - slots.first[t]
                state.table[member, place, :] = -1
                state.scope[member, place] = 0


@kernel
def is_active(state, slots, member, slot):
    """Whether a slot is in use: the whole chain below its branch was searched without result."""
    below = slots.after[slot]
    if below < 0:
        return True
    place = below - slots.first[state.topic[member]]
    whole = slots.start[below + 1] - slots.start[below]
    return state.table[member, place, 0] < 0 and state.scope[member, place] >= whole


@kernel
def pass_on(tables, limits, present, channel, key):
    """Send changed tables along the topic tables; returns messages, including those of the caused checks."""
    state, slots, topic_table = tables
    fresh = state.fresh.copy()
    state.fresh[:] = 0
    messages = 0
    for member in range(len(state.topic)):
        t = state.topic[member]
        if not present[member]:
            continue
        begin_turn(channel, peer_key(key, PASS_ON), member)
        for slot in range(slots.first[t], slots.first[t + 1]):
            place = slot - slots.first[t]
            if not fresh[member, place]:
                continue
            for i in range(entries(topic_table[member])):
                to = topic_table[member, i]
                messages += 1
                if not send(channel, member, to) or not present[to]:
                    continue
                messages += check(state.table[to, place], to, limits.tries, channel)
                merge_all(state, slots, slot, to, place, state.table[member, place], limits.z[t])
    return messages


@kernel
def keep_updated(tables, limits, p_sel, present, channel, key):
    """KEEP_TABLE_UPDATED for tables that have entries; returns messages."""
    state, slots, _ = tables
    reply = np.empty(state.table.shape[2], np.int32)
    messages = 0
    for member in range(len(state.topic)):
        t = state.topic[member]
        if not present[member]:
            continue
        begin_turn(channel, peer_key(key, KEEP_UPDATED), member)
        for slot in range(slots.first[t], slots.first[t + 1]):
            row = state.table[member, slot - slots.first[t]]
            if row[0] < 0:
                continue
            if unit(next_bits(channel)) >= p_sel[member]:
                continue
            messages += check(row, member, limits.tries, channel)
            left = entries(row)
            if left > limits.tau[t]:
                continue
            scope = slots.start[slot + 1] - slots.start[slot]
            asked = row[:left].copy()
            for other in asked:
                messages += 2
                if ask(channel, member, other):
                    answer(tables, slot, scope, other, limits.z[t], reply, channel)
                    merge_all(state, slots, slot, member, slot - slots.first[t], reply, limits.z[t])
    return messages


@kernel
def due_requests(state, slots, p_sel, present, cycle, key):
    """The requests that searches send now, as rows of (member, slot, scope); widens their scopes."""
    requests = np.empty((state.table.shape[0] * state.table.shape[1], 3), np.int64)
    count = 0
    for member in range(len(state.topic)):
        t = state.topic[member]
        if not present[member]:
            continue
        draws = peer_key(peer_key(key, SEARCH), member)
        for slot in range(slots.first[t], slots.first[t + 1]):
            place = slot - slots.first[t]
            if state.due[member, place] > cycle or not is_active(state, slots, member, slot):
                continue
            now = table_place(state.topic, state.table[member, place], slots, slot)
            if now == 0:
                state.scope[member, place] = 0
                continue
            whole = slots.start[slot + 1] - slots.start[slot]
            if now < whole:  # has a farther supertopic: some members search for nearer ones
                if unit(draw(draws, place)) >= p_sel[member]:
                    continue
                state.scope[member, place] = now
            else:
                state.scope[member, place] = min(whole, state.scope[member, place] + 1)
            requests[count, 0], requests[count, 1] = member, slot
            requests[count, 2] = state.scope[member, place]
            count += 1
    return requests[:count].copy()


@kernel
def take_found(state, slots, requests, candidates, z, cycle, timeout):
    """Merge the candidates, and set the time of the next request."""
    for number in range(len(requests)):
        member, slot = requests[number, 0], requests[number, 1]
        t = state.topic[member]
        place = slot - slots.first[t]
        merge_all(state, slots, slot, member, place, candidates[number], z[t])
        state.due[member, place] = cycle + timeout
        if table_place(state.topic, state.table[member, place], slots, slot) == 0:
            state.scope[member, place] = 0
