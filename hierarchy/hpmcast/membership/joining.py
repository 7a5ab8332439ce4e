"""Joining through successive contacts, and leaving (hpmcast, Section 4.2.1).

A participant that joins knows one other. That one names the delegates of the smallest subsystem it knows
that the newcomer belongs to, these name closer ones, and so on until a neighbour of level 1 is found, or
there is none because the newcomer is the first of its subsystem. The last one contacted hands over its
tables. A participant that leaves tells some neighbours, who put up its tombstone.

Each contact is a question and an answer, each billed, and each may be lost. A delegate that does not answer
is passed over for the next; a newcomer that gets no answer from any of them, or not the tables in the end,
begins again in the next cycle. A participant that leaves waits for no answer: where its goodbyes are lost,
others notice only that it is silent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.membership.gossip_pull import line_bytes
from hierarchy.hpmcast.membership.tables import copy_line
from sub2sub.kernels.compilation import kernel, rule
from sub2sub.kernels.randomness import below, draw, peer_key
from sub2sub.overlay.network import arrives

FIRST, WAITS = 1, 2  # ends of the walk: nobody is closer; nobody answers
ASKED, HANDED = 1, 2  # how far the last contact got: it has heard; its tables have arrived


class Walk(NamedTuple):
    """Where every newcomer has got to, and what decides on its messages."""

    contact: NDArray[np.int32]  # (n,) the participant it asks now
    found: NDArray[np.uint8]  # (n,) 0 while it walks, FIRST or WAITS at the end
    handed: NDArray[np.uint8]  # (n,) 0, ASKED or HANDED
    key: np.uint64  # draws 2k and 2k + 1 of a newcomer are for question k and its answer


@rule
def _asks(x, z, k, walk, faults, costs):
    """Whether question k of x reaches z, and the answer x."""
    draws = peer_key(walk.key, x)
    costs.messages[x] += 1
    if arrives(faults, x, z, draws, 2 * k):
        costs.messages[z] += 1
        if arrives(faults, z, x, draws, 2 * k + 1):
            return HANDED
        costs.failed[0] += 1
        return ASKED
    costs.failed[0] += 1
    return 0


@kernel
def first_contact(walk, faults, costs):
    """Which newcomers are answered by the one they know: `found` is 0 for these, WAITS for the others."""
    for x in range(walk.contact.shape[0]):
        walk.found[x] = WAITS
        if (
            walk.contact[x] >= 0
            and faults.alive[x]
            and _asks(x, walk.contact[x], 0, walk, faults, costs) == HANDED
        ):
            walk.found[x] = 0


@kernel
def next_contact(level, table, slot, branch, walk, faults, costs):
    """One step of the walk at `level`, for all newcomers whose contact is at that distance.

    `found` becomes FIRST where there is no closer contact since the line of the newcomer's branch is empty,
    and WAITS where it has delegates and none answers: the newcomer tries again in the next cycle.
    """
    contact, found = walk.contact, walk.found
    redundancy = table.delegates.shape[2]
    for x in range(contact.shape[0]):
        c = contact[x]
        if (
            found[x] != 0
            or branch[level, x] != branch[level, c]
            or branch[level - 1, x] == branch[level - 1, c]
        ):
            continue
        s = slot[x]
        found[x] = FIRST if table.members[c, s] == 0 else WAITS
        if found[x] == WAITS:
            for k in range(redundancy):
                z = table.delegates[c, s, k]
                question = 1 + (level - 2) * redundancy + k
                if z >= 0 and z != x and _asks(x, z, question, walk, faults, costs) == HANDED:
                    contact[x], found[x] = z, 0
                    break


@kernel
def hand_over(question, walk, faults, costs):
    """Newcomers at the end of their walk tell their last contact of themselves and ask for its tables."""
    for x in range(walk.contact.shape[0]):
        walk.handed[x] = 0
        if walk.found[x] != WAITS:
            walk.handed[x] = _asks(x, walk.contact[x], question, walk, faults, costs)


@kernel
def take_over(level, table, slot, branch, walk, dirty, costs):
    """Newcomers copy the tables they share with their last contact, if these have arrived.

    The contact in turn takes the newcomer's line into the table in which the two differ, if it was asked.
    """
    for x in range(walk.contact.shape[0]):
        if walk.handed[x] == 0 or branch[level, x] != branch[level, walk.contact[x]]:
            continue
        c, own = np.int64(walk.contact[x]), np.int64(slot[x])
        if branch[level - 1, x] != branch[level - 1, c]:
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
def bury(table, slot, cycle, leaving, fanout, key, faults, dirty, costs):
    """Those that leave tell up to `fanout` neighbours of level 1; draws k and fanout + k for the k-th."""
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
            costs.messages[x] += 1
            if not arrives(faults, x, y, draws, fanout + k):
                costs.failed[0] += 1
                continue
            table.members[y, slot[x]], table.stamp[y, slot[x]] = 0, cycle
            dirty[y] = 1
