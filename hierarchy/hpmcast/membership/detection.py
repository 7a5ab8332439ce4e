"""Heartbeats, failure detection, renewal of one's own lines (hpmcast, Sections 4.2.1, 4.2.2, 6.1.3).

At the start of a cycle a participant renews its line of level 1, gives up what has been silent for too
long, and condenses each of its tables into its own branch's line of the next level. A neighbour of level 1
that is silent may be asked first; higher lines, which many keep renewing, are given up without.

Read differently from the paper: the last contact of a neighbour is the time its line speaks of, whether it
made the contact here or with a neighbour who passed the line on; direct contacts alone are too rare to
tell the dead from the silent in less than hundreds of cycles. Clocks agree to within a cycle.
"""

from __future__ import annotations

import numpy as np

from hierarchy.hpmcast.membership.tables import condense
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import peer_key
from sub2sub.overlay.network import answers


@kernel
def heartbeat(table, slot, own, cycle, alive, dirty):
    """Everybody renews its own line in its table of level 1."""
    for x in range(slot.shape[0]):
        if alive[x] == 0:
            continue
        s = slot[x]
        changed = table.members[x, s] != 1
        for end in range(2):
            for k in range(own.shape[2]):
                changed |= table.boxes[x, s, 0, end, k] != own[x, end, k]
                table.boxes[x, s, 0, end, k] = own[x, end, k]
        table.stamp[x, s], table.members[x, s], table.used[x, s] = cycle, 1, 1
        for k in range(table.delegates.shape[2]):
            table.delegates[x, s, k] = x if k == 0 else -1
        dirty[x] |= changed


@kernel
def give_up(table, slot, cycle, timeout, tries, first, key, faults, dirty, costs):
    """Turn lines that nobody has renewed for more than `timeout` cycles into tombstones.

    The delegate of a line is asked first, and again while nothing is heard, `tries` times; with 0 it is not.
    Draws 2 (first + s) and the next for slot s.
    """
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
            dirty[x] = 1


@kernel
def renew(table, compared, target, target_slot, compared_there, voters, cycle, alive, dirty, dirty_there):
    """Everybody condenses its table into its own branch's line one level up, where anything has changed."""
    for x in range(target_slot.shape[0]):
        if alive[x] == 0:
            continue
        there = np.int64(target_slot[x])
        if dirty[x]:
            first, slots = np.int64(0), table.members.shape[1]
            dirty_there[x] |= condense(
                table, x, first, slots, compared, target, x, there, compared_there, voters
            )
            dirty[x] = 0
        target.stamp[x, there] = cycle
