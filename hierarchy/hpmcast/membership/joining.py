"""Joining through successive contacts, and leaving (hpmcast, Section 4.2.1).

A participant that joins knows one other. That one names the delegates of the smallest subsystem it knows
that the newcomer belongs to, these name closer ones, and so on until a neighbour of level 1 is found, or
there is none because the newcomer is the first of its subsystem. The last one contacted hands over its
tables. A participant that leaves tells some neighbours, who put up its tombstone.
"""

from __future__ import annotations

import numpy as np

from hierarchy.hpmcast.membership.gossip_pull import line_bytes
from hierarchy.hpmcast.membership.tables import copy_line
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, peer_key
from sub2sub.overlay.network import reaches

__all__ = ["WAITS", "bury", "first_contact", "next_contact", "take_over"]

FIRST, WAITS = 1, 2  # ends of the walk: nobody is closer; nobody answers


@kernel
def first_contact(contact, found, alive, group, costs):
    """Which newcomers reach the one participant they know: `found` is 0 for these, WAITS for the others."""
    for x in range(contact.shape[0]):
        found[x] = WAITS
        if contact[x] >= 0 and alive[x]:
            costs.messages[0] += 1
            if reaches(alive, group, x, contact[x]):
                found[x] = 0
            else:
                costs.failed[0] += 1


@kernel
def next_contact(level, table, slot, branch, contact, found, alive, group, costs):
    """One step of the walk at `level`, for all newcomers whose contact is at that distance.

    `found` becomes FIRST where there is no closer contact since the line of the newcomer's branch is empty,
    and WAITS where it has delegates and none answers: the newcomer tries again in the next cycle.
    """
    for x in range(contact.shape[0]):
        c = contact[x]
        if (
            found[x] != 0
            or branch[level, x] != branch[level, c]
            or branch[level - 1, x] == branch[level - 1, c]
        ):
            continue
        costs.messages[0] += 1
        s = slot[x]
        found[x] = FIRST if table.members[c, s] == 0 else WAITS
        if found[x] == WAITS:
            for k in range(table.delegates.shape[2]):
                z = table.delegates[c, s, k]
                if z >= 0 and z != x:
                    costs.messages[0] += 1
                    if reaches(alive, group, x, z):
                        contact[x], found[x] = z, 0
                        break
                    costs.failed[0] += 1


@kernel
def take_over(level, table, slot, branch, contact, found, dirty, costs):
    """Newcomers at the end of their walk copy the tables they share with their last contact.

    The contact in turn takes the newcomer's line into the table in which the two differ.
    """
    for x in range(contact.shape[0]):
        if found[x] == WAITS or branch[level, x] != branch[level, contact[x]]:
            continue
        c, own = np.int64(contact[x]), np.int64(slot[x])
        if branch[level - 1, x] != branch[level - 1, c]:
            copy_line(table, x, own, table, c, own)
            dirty[c] = 1
        for s in range(table.members.shape[1]):
            if s != own and table.stamp[c, s] > table.stamp[x, s]:
                costs.lines[0] += 1
                costs.payload[0] += line_bytes(table, c, s)
                copy_line(table, c, s, table, x, s)
        dirty[x] = 1


@kernel
def bury(table, slot, cycle, leaving, fanout, key, alive, group, dirty, costs):
    """Those who leave tell up to `fanout` random neighbours of level 1; draw k is for the k-th."""
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
            costs.messages[0] += 1
            if not reaches(alive, group, x, y):
                costs.failed[0] += 1
                continue
            table.members[y, slot[x]], table.stamp[y, slot[x]] = 0, cycle
            dirty[y] = 1
