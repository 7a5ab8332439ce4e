"""Heartbeats, failure detection, and renewal of own lines (hpmcast, Sections 4.2.1, 4.2.2, 6.1.3).

At the start of a cycle a participant renews its line of level 1, removes lines that have not been renewed for
too long, and condenses each of its tables into its own branch's line of the next level. A silent neighbour of
level 1 may be asked first; higher lines, which many participants renew, are removed without a question.

Differences from the paper: the last contact of a neighbour is the timestamp of its line, which it sent here
or to a neighbour that forwarded the line. Direct contacts alone are so rare that it would take hundreds of
cycles to detect a crash. Clocks differ by less than a cycle.
"""

from __future__ import annotations

import numpy as np

from hierarchy.hpmcast.membership.tables import condense, put_box
from sub2sub.compiled.common.network import answers
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.machinery.compilation import kernel


@kernel
def heartbeat(level, own, cycle, alive):
    """Renew each participant's own line in its table of level 1."""
    table = level.table
    for x in range(level.slot.shape[0]):
        if alive[x] == 0:
            continue
        s = level.slot[x]
        changed = table.members[x, s] != 1
        changed |= put_box(own[x], table.boxes[x, s, 0])
        table.stamp[x, s], table.members[x, s], table.used[x, s] = cycle, 1, 1
        for k in range(table.delegates.shape[2]):
            table.delegates[x, s, k] = x if k == 0 else -1
        level.dirty[x] |= changed


@kernel
def give_up(level, cycle, timeout, tries, first, key, faults, costs):
    """Turn lines that were not renewed for more than `timeout` cycles into tombstones.

    The delegate of a line is asked first, up to `tries` times. Slot s uses draws 2 (first + s) and the next.
    """
    table, slot = level.table, level.slot
    for x in range(slot.shape[0]):
        if faults.alive[x] == 0:
            continue
        draws = peer_key(key, x)
        for s in range(table.members.shape[1]):
            if table.members[x, s] == 0 or s == slot[x] or cycle - table.stamp[x, s] <= timeout:
                continue
            if tries > 0:
                y = table.delegates[x, s, 0]
                there, asked, told = answers(faults, x, y, draws, first + s, tries, tries)
                costs.messages[x] += asked
                costs.messages[y] += told
                if there:
                    table.stamp[x, s] = cycle
                    continue
                costs.failed[0] += 1
            table.members[x, s], table.stamp[x, s] = 0, cycle
            level.dirty[x] = 1


@kernel
def renew(level, above, voters, cycle, alive):
    """Condense each participant's table into its own branch's line one level up, if it has changed."""
    table, target = level.table, above.table
    first, slots = np.int64(0), table.members.shape[1]
    for x in range(above.slot.shape[0]):
        if alive[x] == 0:
            continue
        there = np.int64(above.slot[x])
        if level.dirty[x]:
            above.dirty[x] |= condense(
                table, x, first, slots, level.compared, target, x, there, above.compared, voters
            )
            level.dirty[x] = 0
        target.stamp[x, there] = cycle
