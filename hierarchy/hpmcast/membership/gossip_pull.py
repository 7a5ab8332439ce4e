"""Gossip-pull of newer lines: choosing partners, and copying lines (hpmcast, Section 4.2.1).

Once a cycle a participant chooses one of its levels and some of the participants that it knows there, and
sends them the timestamps of its lines. Each answers with the lines of which it has newer ones. Two
participants at distance d share the tables of level d and above, and compare these.

Differences from the paper: a gossip also contains one line of the sender, that of its branch in the table in
which the two differ. So the receiver learns that the sender is alive, and a subsystem that has lost all its
delegates at once can announce new ones; with pull alone no participant outside would ever ask them.

A removed line stays as a tombstone: no members, the time of the removal, the last known delegates. Its time
is later than that of any line of the crashed participant, so it spreads like any other line, and older lines
do not replace it. A live participant replaces it with its next heartbeat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.membership.tables import NO_STAMP, copy_line
from sub2sub.compiled.common.network import arrives
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel, rule

ARRIVED, ANSWERED, UPDATED = 1, 2, 3  # number of messages of an exchange that arrived
STAMP, LINE, DELEGATE, BOUND = 4, 10, 6, 8  # bytes of a timestamp, a line, a delegate and a bound of a box


class Costs(NamedTuple):
    """The costs of a step so far, in arrays to which kernels add."""

    messages: NDArray[np.int64]  # (n,) by sender
    payload: NDArray[np.int64]  # (n,) bytes by sender
    failed: NDArray[np.int64]  # (1,) messages that did not arrive
    lines: NDArray[np.int64]  # (1,) lines sent

    @classmethod
    def none(cls, n: int) -> Costs:
        """Zero costs of n participants."""
        return cls(*(np.zeros(size, np.int64) for size in (n, n, 1, 1)))


@rule
def billed(costs, faults, a, b, key, k):
    """Whether a message from a arrives at b; it is billed to a."""
    costs.messages[a] += 1
    there = arrives(faults, a, b, key, k)
    costs.failed[0] += not there
    return there


@kernel
def line_bytes(table, r, s):
    """Size of a line in a message."""
    bounds = 2 * table.used[r, s] * table.boxes.shape[4]
    return LINE + DELEGATE * table.delegates.shape[2] + BOUND * bounds


@kernel
def _list_others(table, x, others):
    """Write the other participants in the table of x to `others`; returns their number."""
    size = 0
    for s in range(table.members.shape[1]):
        if table.members[x, s] > 0:
            for k in range(table.delegates.shape[2]):
                y = table.delegates[x, s, k]
                if y >= 0 and y != x:
                    others[size] = y
                    size += 1
    return size


@kernel
def _to_revisit(table, x, sponsor, bits):
    """The first delegate of a random tombstone in the table of x, or the sponsor of x; -1 for none."""
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
def choose_partners(level, levels, key, active, revisit, sponsor, partners):
    """Choose the partners of participants that chose this level in this cycle; `partners` is (n, F + 1).

    Draws of a participant: 0 its level, 1 to F its partners, F + 1 and F + 2 for revisiting.
    The last partner is in addition to the F; it is chosen only if it is not set already.
    """
    n, width = partners.shape
    table, fanout = level.table, width - 1
    others = np.empty(table.members.shape[1] * table.delegates.shape[2], np.int32)
    for x in range(n):
        draws = peer_key(key, x)
        if active[x] == 0 or 1 + below(draw(draws, 0), levels) != level.number:
            continue
        size = _list_others(table, x, others)
        for k in range(min(fanout, size)):
            place = below(draw(draws, 1 + k), size - k)
            partners[x, k] = others[place]
            for later in range(place, size - k - 1):  # the others keep their order
                others[later] = others[later + 1]
        if partners[x, fanout] < 0 and unit(draw(draws, fanout + 1)) < revisit:
            partners[x, fanout] = _to_revisit(table, x, sponsor[x], draw(draws, fanout + 2))


@kernel
def deliver(partners, bidirectional, key, faults, fate, costs):
    """Decide which messages of each exchange arrive: gossip, answer, and the answer to that.

    Partner k uses draws F + 3 + 3 k and the two after it.
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
    """Copy the lines of y's table that are newer than in x's, except that of x's own branch.

    If y has other delegates for that branch than x, one of them is written to `named`: either y's are out of
    date, or x and this delegate know different parts of the branch and should contact each other.
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
def exchange(level, x, y, fate, named, costs):
    """One exchange between x and y, for the tables of one level.

    `fate` is the number of messages that arrived: gossip, answer, answer to that. A row of `named` (n, 2) is
    set to a delegate of the participant's own branch in another's table, and the timestamp of its line.
    """
    number, table, slot, branch, dirty, _ = level
    if branch[number, x] != branch[number, y]:
        return
    costs.payload[x] += STAMP * table.members.shape[1]
    if fate < ARRIVED:
        return
    own, other = np.int64(slot[x]), np.int64(slot[y])
    if fate >= ANSWERED:
        _pull(table, x, y, own, named, dirty, costs)
    # Only now, so that the answer contains the delegates that the receiver knew before.
    if own != other and table.stamp[y, own] < table.stamp[x, own]:
        costs.lines[0] += 1
        costs.payload[x] += line_bytes(table, x, own)
        dirty[y] |= copy_line(table, x, own, table, y, own)
    if fate >= UPDATED:
        _pull(table, y, x, other, named, dirty, costs)


@kernel
def exchange_all(level, gossips, fate, named, costs):
    """The exchanges of a cycle, or those piggybacked on events, in order.

    `gossips` are rows of (sender, receiver), and `fate` is the number of messages of each that arrived.
    """
    for k in range(gossips.shape[0]):
        x, y = np.int64(gossips[k, 0]), np.int64(gossips[k, 1])
        exchange(level, x, y, np.int64(fate[k]), named, costs)


@kernel
def to_meet(level, named, timeout, meet):
    """The named participants to contact. Known neighbours of level 1 are left out, also tombstones.

    A tombstone is contacted if the line that names its participant is much newer than the tombstone.
    """
    table, slot, branch = level.table, level.slot, level.branch
    for x in range(meet.shape[0]):
        z = named[x, 0]
        meet[x] = z
        if z >= 0 and branch[1, x] == branch[1, z] and table.stamp[x, slot[z]] != NO_STAMP:
            is_tombstone = table.members[x, slot[z]] == 0
            if not (is_tombstone and named[x, 1] - table.stamp[x, slot[z]] > timeout):
                meet[x] = -1


@kernel
def answer_arrivals(arrivals, key, faults, fate, costs):
    """Decide which answers to messages that have arrived arrive; draw k for the k-th."""
    for k in range(arrivals.shape[0]):
        back = billed(costs, faults, arrivals[k, 1], arrivals[k, 0], key, k)
        fate[k] = ANSWERED if back else ARRIVED
