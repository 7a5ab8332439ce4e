"""Gossip-pull of newer lines: choosing partners, and taking over lines (hpmcast, Section 4.2.1).

Once a cycle a participant picks one of its levels and some of the participants it knows there, and sends
them the timestamps of its lines. Each answers with the lines it has newer ones of. Two participants at
distance d have the tables of level d and above in common, and compare these.

Read differently from the paper: a gossip also carries one line, the sender's own (its branch's, in the table
in which the two differ). To be contacted is then to know that the sender is alive, and a subsystem that has
lost all its delegates at once can present new ones; with pull alone nobody outside would ever ask them.

A line given up stays as a tombstone: no members, the time of the decision, the delegates last known. Its
time is later than anything the dead can have said, so it spreads like any other line, and older lines do
not replace it; a living participant overrules it with its next heartbeat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.membership.tables import NEVER, copy_line
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, peer_key, unit
from sub2sub.overlay.network import arrives

ARRIVED, ANSWERED, UPDATED = 1, 2, 3  # how many of the messages of an exchange made it
STAMP, LINE, DELEGATE, BOUND = 4, 10, 6, 8  # bytes of a timestamp, of a line, and of what stands in it


class Costs(NamedTuple):
    """What a step has cost so far, in arrays that kernels add to.

    Attributes
    ----------
    messages, payload : (n,) int64
        By the participant that sends.
    failed, lines : (1,) int64
        Of all together.
    """

    messages: NDArray[np.int64]
    payload: NDArray[np.int64]
    failed: NDArray[np.int64]
    lines: NDArray[np.int64]

    @classmethod
    def none(cls, n: int) -> Costs:
        """Nothing spent yet by n participants."""
        return cls(*(np.zeros(size, np.int64) for size in (n, n, 1, 1)))


@kernel
def line_bytes(table, r, s):
    """What it takes to send a line."""
    bounds = 2 * table.used[r, s] * table.boxes.shape[4]
    return LINE + DELEGATE * table.delegates.shape[2] + BOUND * bounds


@kernel
def _others(table, x):
    """How many participants the table of x lists beside itself."""
    size = 0
    for s in range(table.members.shape[1]):
        if table.members[x, s] > 0:
            for k in range(table.delegates.shape[2]):
                y = table.delegates[x, s, k]
                size += y >= 0 and y != x
    return size


@kernel
def _pick(table, x, place, taken, count):
    """The place-th listed participant that is neither x nor among the first `count` of `taken`."""
    for s in range(table.members.shape[1]):
        if table.members[x, s] > 0:
            for k in range(table.delegates.shape[2]):
                y = table.delegates[x, s, k]
                if y < 0 or y == x:
                    continue
                free = True
                for t in range(count):
                    free &= taken[t] != y
                if free:
                    if place == 0:
                        return y
                    place -= 1
    return np.int32(-1)


@kernel
def _old_acquaintance(table, x, sponsor, bits):
    """The first delegate of a random tombstone in the table of x, or who once introduced x; -1 for none."""
    size = 0
    for s in range(table.members.shape[1]):
        size += table.members[x, s] == 0 and table.delegates[x, s, 0] >= 0
    if size == 0 and sponsor < 0:
        return np.int32(-1)
    place = below(bits, size + (1 if sponsor >= 0 else 0))
    for s in range(table.members.shape[1]):
        if table.members[x, s] == 0 and table.delegates[x, s, 0] >= 0:
            if place == 0:
                return table.delegates[x, s, 0]
            place -= 1
    return sponsor


@kernel
def choose_partners(table, level, levels, key, active, revisit, sponsor, partners):
    """Choose the partners of everybody whose level of this cycle is `level`; `partners` is (n, F + 1).

    Draws of a participant: 0 its level, 1 to F its partners, F + 1 and F + 2 whether and where to revisit.
    The last place holds somebody to be met apart from the F, if it is not set already.
    """
    n, width = partners.shape
    fanout = width - 1
    for x in range(n):
        draws = peer_key(key, x)
        if active[x] == 0 or 1 + below(draw(draws, 0), levels) != level:
            continue
        size = _others(table, x)
        for k in range(min(fanout, size)):
            place = below(draw(draws, 1 + k), size - k)
            partners[x, k] = _pick(table, x, place, partners[x], k)
        if partners[x, fanout] < 0 and unit(draw(draws, fanout + 1)) < revisit:
            partners[x, fanout] = _old_acquaintance(table, x, sponsor[x], draw(draws, fanout + 2))


@kernel
def deliver(partners, bidirectional, key, faults, fate, costs):
    """Decide what becomes of every gossip, its answer and the answer to that.

    Draws F + 3 + 3 k and the two after it for partner k.
    """
    n, width = partners.shape
    for x in range(n):
        draws = peer_key(key, x)
        for k in range(width):
            fate[x, k] = 0
            if partners[x, k] < 0:
                continue
            for message in range(3 if bidirectional else 2):
                costs.messages[partners[x, k] if message == 1 else x] += 1
                if not arrives(faults, x, partners[x, k], draws, width + 2 + 3 * k + message):
                    costs.failed[0] += 1
                    break
                fate[x, k] = message + 1


@kernel
def _pull(table, x, y, own, named, dirty, costs):
    """Take over from y's table every line newer than in x's, x's own branch apart.

    Where y has other delegates for that branch than x itself, x notes one of them: either they are out of
    date, or the two know different parts of the branch and ought to meet.
    """
    for s in range(table.members.shape[1]):
        if s != own:
            if table.stamp[y, s] > table.stamp[x, s]:
                costs.lines[0] += 1
                costs.payload[y] += line_bytes(table, y, s)
                dirty[x] |= copy_line(table, y, s, table, x, s)
        elif table.members[y, s] > 0:
            for k in range(table.delegates.shape[2]):
                z = table.delegates[y, s, k]
                known = z < 0 or z == x
                for m in range(table.delegates.shape[2]):
                    known |= table.delegates[x, s, m] == z
                if not known:
                    named[x, 0], named[x, 1] = z, table.stamp[y, s]


@kernel
def exchange(level, table, slot, branch, x, y, fate, named, dirty, costs):
    """One gossip from x to y, as far as the tables of one level go.

    Parameters
    ----------
    slot : (n,) int32
        Each participant's own line in its table of this level.
    branch : (l + 1, n) int32
        `Population.branch_of`.
    fate : int
        How many of the messages arrived: gossip, answer, answer to that.
    named : (n, 2) int32
        Set to a participant of one's own branch that another's table names, and the time that speaks of.
    dirty : (n,) uint8
        Set for those whose table says something new.
    """
    if branch[level, x] != branch[level, y]:
        return
    costs.payload[x] += STAMP * table.members.shape[1]
    if fate < ARRIVED:
        return
    own, other = np.int64(slot[x]), np.int64(slot[y])
    if fate >= ANSWERED:
        _pull(table, x, y, own, named, dirty, costs)
    # Only now, so that the answer still names the delegates that the receiver knew before.
    if own != other and table.stamp[y, own] < table.stamp[x, own]:
        costs.lines[0] += 1
        costs.payload[x] += line_bytes(table, x, own)
        dirty[y] |= copy_line(table, x, own, table, y, own)
    if fate >= UPDATED:
        _pull(table, y, x, other, named, dirty, costs)


@kernel
def exchange_all(level, table, slot, branch, partners, fate, named, dirty, costs):
    """The gossips of a cycle, participant after participant."""
    for x in range(partners.shape[0]):
        for k in range(partners.shape[1]):
            y = np.int64(partners[x, k])
            if y >= 0:
                exchange(level, table, slot, branch, x, y, np.int64(fate[x, k]), named, dirty, costs)


@kernel
def to_meet(table, slot, branch, named, timeout, meet):
    """Who of the named to go and meet; not neighbours of level 1 that are known, be it to be dead.

    Unless they are named long after they were given up: then those that name them know better.
    """
    for x in range(meet.shape[0]):
        z = named[x, 0]
        meet[x] = z
        if z >= 0 and branch[1, x] == branch[1, z] and table.stamp[x, slot[z]] != NEVER:
            buried = table.members[x, slot[z]] == 0
            if not (buried and named[x, 1] - table.stamp[x, slot[z]] > timeout):
                meet[x] = -1


@kernel
def answer_arrivals(arrivals, key, faults, fate, costs):
    """Decide what becomes of the answers to messages that have arrived; draw k for the k-th."""
    for k in range(arrivals.shape[0]):
        costs.messages[arrivals[k, 1]] += 1
        back = arrives(faults, arrivals[k, 1], arrivals[k, 0], key, k)
        costs.failed[0] += not back
        fate[k] = ANSWERED if back else ARRIVED


@kernel
def exchange_arrivals(level, table, slot, branch, arrivals, fate, named, dirty, costs):
    """Exchanges piggybacked by messages that have arrived, in their order; the answers may be lost."""
    for k in range(arrivals.shape[0]):
        x, y = np.int64(arrivals[k, 0]), np.int64(arrivals[k, 1])
        exchange(level, table, slot, branch, x, y, np.int64(fate[k]), named, dirty, costs)
