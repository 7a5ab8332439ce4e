"""Joining through successive contacts, and leaving (hpmcast, Section 4.2.1).

A participant that joins knows one other. That one names the delegates of the smallest subsystem that it knows
and to which the newcomer belongs, these name closer ones, and so on until a neighbour of level 1 is found, or
there is none because the newcomer is the first of its subsystem. The last contact sends its tables. A
participant that leaves tells some neighbours, which replace its line by a tombstone.

Each contact is a question and an answer; each is billed, and each may be lost. If a delegate does not answer,
the next is asked; a newcomer that gets no answer from any of them, or does not get the tables, starts again
in the next cycle. A participant that leaves waits for no answer: if its messages are lost, its lines time
out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.membership.gossip_pull import billed, line_bytes
from hierarchy.hpmcast.membership.tables import copy_line
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.machinery.compilation import kernel, rule

FIRST, WAITS = 1, 2  # ends of the walk: there is no closer contact; no contact answers
ASKED, HANDED = 1, 2  # the last contact has got the request; its tables have arrived


class NewcomerWalks(NamedTuple):
    """The state of every newcomer's walk, and the key of its draws."""

    contact: NDArray[np.int32]  # (n,) the participant that it asks now
    found: NDArray[np.uint8]  # (n,) 0 while it walks, FIRST or WAITS at the end
    handed: NDArray[np.uint8]  # (n,) 0, ASKED or HANDED
    key: np.uint64  # draws 2k and 2k + 1 of a newcomer are for question k and its answer


@rule
def _asks(x, z, k, walk, faults, costs):
    """Whether question k of x reaches z (ASKED), and the answer reaches x (HANDED); 0 if neither."""
    draws = peer_key(walk.key, x)
    if not billed(costs, faults, x, z, draws, 2 * k):
        return 0
    return HANDED if billed(costs, faults, z, x, draws, 2 * k + 1) else ASKED


@kernel
def first_contact(walk, faults, costs):
    """Ask each newcomer's first contact; `found` is 0 for newcomers that get an answer, else WAITS."""
    for x in range(walk.contact.shape[0]):
        walk.found[x] = WAITS
        if (
            walk.contact[x] >= 0
            and faults.alive[x]
            and _asks(x, walk.contact[x], 0, walk, faults, costs) == HANDED
        ):
            walk.found[x] = 0


@kernel
def next_contact(level, walk, faults, costs):
    """One step of the walk at a level, for all newcomers whose contact is at that distance.

    `found` becomes FIRST if the line of the newcomer's branch is empty, so that there is no closer contact,
    and WAITS if it has delegates and none answers: the newcomer tries again in the next cycle.
    """
    number, table, slot, branch, _, _ = level
    contact, found = walk.contact, walk.found
    redundancy = table.delegates.shape[2]
    for x in range(contact.shape[0]):
        c = contact[x]
        if (
            found[x] != 0
            or branch[number, x] != branch[number, c]
            or branch[number - 1, x] == branch[number - 1, c]
        ):
            continue
        s = slot[x]
        found[x] = FIRST if table.members[c, s] == 0 else WAITS
        if found[x] == WAITS:
            for k in range(redundancy):
                z = table.delegates[c, s, k]
                question = 1 + (number - 2) * redundancy + k
                if z >= 0 and z != x and _asks(x, z, question, walk, faults, costs) == HANDED:
                    contact[x], found[x] = z, 0
                    break


@kernel
def hand_over(question, walk, faults, costs):
    """Newcomers at the end of their walk send their line to the last contact and ask for its tables."""
    for x in range(walk.contact.shape[0]):
        walk.handed[x] = 0
        if walk.found[x] != WAITS:
            walk.handed[x] = _asks(x, walk.contact[x], question, walk, faults, costs)


@kernel
def take_over(level, walk, costs):
    """Newcomers copy the tables that they share with their last contact, if these have arrived.

    The contact copies the newcomer's line into the table in which the two differ, if it got the request.
    """
    number, table, slot, branch, dirty, _ = level
    for x in range(walk.contact.shape[0]):
        if walk.handed[x] == 0 or branch[number, x] != branch[number, walk.contact[x]]:
            continue
        c, own = np.int64(walk.contact[x]), np.int64(slot[x])
        if branch[number - 1, x] != branch[number - 1, c]:
            copy_line(table, x, own, table, c, own)
            dirty[c] = 1
        if walk.handed[x] == HANDED:
            for s in range(table.members.shape[1]):
                if s != own and table.stamp[c, s] > table.stamp[x, s]:
                    costs.lines[0] += 1
                    costs.payload[c] += line_bytes(table, c, s)
                    copy_line(table, c, s, table, x, s)
            dirty[x] = 1


@kernel
def announce_leaves(level, cycle, leaving, fanout, key, faults, costs):
    """Tell up to `fanout` neighbours of level 1 of each leave; draws k and fanout + k for the k-th."""
    table, slot = level.table, level.slot
    others = np.empty(table.members.shape[1], np.int32)
    for x in leaving:
        draws = peer_key(key, x)
        size = 0
        for s in range(table.members.shape[1]):
            if table.members[x, s] > 0 and s != slot[x]:
                others[size] = table.delegates[x, s, 0]
                size += 1
        for k in range(min(fanout, size)):
            place = k + below(draw(draws, k), size - k)
            others[k], others[place] = others[place], others[k]
            y = others[k]
            if not billed(costs, faults, x, y, draws, fanout + k):
                continue
            table.members[y, slot[x]], table.stamp[y, slot[x]] = 0, cycle
            level.dirty[y] = 1
