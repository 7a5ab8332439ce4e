"""Tables of lines, one per participant and level (hpmcast, Sections 4.2.1 and 4.2.2, Figure 5).

A `LineTables` holds the tables of one level for many participants, as arrays. Row r is one table; its slot s
is the line of the subsystem (at level 1, of the participant) whose address component is s. `condense` makes
one line of the next level from a table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.membership.condensation import copy_box, coverage_score, elect, include
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Boxes

NO_STAMP = -1  # the timestamp of a line that was never received


class LineTables(NamedTuple):
    """The tables of one level."""

    stamp: NDArray[np.int32]  # (rows, slots) timestamp of a line, a cycle; NEVER if it was never received
    members: NDArray[np.int32]  # (rows, slots) number of participants; 0 for an empty line or a tombstone
    delegates: NDArray[np.int32]  # (rows, slots, R) participants to contact; -1: none; at level 1 itself
    used: NDArray[np.int32]  # (rows, slots) number of boxes in use
    boxes: NDArray[np.float64]  # (rows, slots, K, 2, d) the joint interest: half-open boxes, lows and highs


class Level(NamedTuple):
    """One level of the membership protocol, as an argument of kernels."""

    number: int  # level 1 is 1
    table: LineTables  # one row per participant
    slot: NDArray[np.int32]  # (n,) each participant's own line in its table
    branch: NDArray[np.int32]  # (l + 1, n) `Population.branch_of`
    dirty: NDArray[np.uint8]  # (n,) 1 for participants whose table has changed
    compared: NDArray[np.uint8]  # (d,) the attributes that filters of this level compare


class Electorate(NamedTuple):
    """The data for elections of delegates."""

    own: NDArray[np.float64]  # (n, 2, d) each participant's own interest
    rank: NDArray[np.float64]  # (n,) smallest first, equal ones by address: 0, or minus the capacity
    by_coverage: int  # 1 to rank by the share of the joint interest that `own` covers


def electorate(n: int, interests: Boxes | None, capacity: ArrayLike | None, by_coverage: bool) -> Electorate:
    """The data for elections. Without interests nothing is filtered; without capacities addresses decide.

    Examples
    --------
    >>> electorate(3, None, [1.0, 5.0, 2.0], by_coverage=False).rank.tolist()
    [-1.0, -5.0, -2.0]
    """
    own = np.zeros((n, 2, 0)) if interests is None else np.stack(interests, axis=1)
    rank = np.zeros(n) if capacity is None else -np.asarray(capacity, np.float64)
    if len(own) != n:
        raise InputError(f"interests: expected {n} boxes, got {len(own)}")
    if rank.shape != (n,) or not np.isfinite(rank).all():
        raise InputError(f"capacity: expected {n} finite numbers")
    return Electorate(np.ascontiguousarray(own), rank, int(by_coverage))


def empty_table(rows: int, slots: int, redundancy: int, most: int, attributes: int) -> LineTables:
    """Empty tables.

    Examples
    --------
    >>> empty_table(rows=2, slots=5, redundancy=3, most=4, attributes=1).boxes.shape
    (2, 5, 4, 2, 1)
    """
    return LineTables(
        np.full((rows, slots), NO_STAMP, np.int32),
        np.zeros((rows, slots), np.int32),
        np.full((rows, slots, redundancy), -1, np.int32),
        np.zeros((rows, slots), np.int32),
        np.zeros((rows, slots, most, 2, attributes), np.float64),
    )


@rule
def put_box(box, target):
    """Copy a box (2, d); returns whether it differs from the one before."""
    changed = False
    for end in range(2):
        for k in range(box.shape[1]):
            changed |= target[end, k] != box[end, k]
            target[end, k] = box[end, k]
    return changed


@rule
def _put_line(stamp, members, delegates, used, boxes, target, t, u):
    """Write line (t, u) of a table; returns whether anything but its timestamp has changed."""
    changed = target.members[t, u] != members or target.used[t, u] != used
    target.stamp[t, u], target.members[t, u], target.used[t, u] = stamp, members, used
    for k in range(len(delegates)):
        changed |= target.delegates[t, u, k] != delegates[k]
        target.delegates[t, u, k] = delegates[k]
    for b in range(used):
        changed |= put_box(boxes[b], target.boxes[t, u, b])
    return changed


@kernel
def copy_line(source, r, s, target, t, u):
    """Copy line (r, s) of one table to line (t, u) of another; returns what `_put_line` does."""
    delegates, boxes = source.delegates[r, s], source.boxes[r, s]
    return _put_line(
        source.stamp[r, s], source.members[r, s], delegates, source.used[r, s], boxes, target, t, u
    )


@kernel
def _candidates(table, r, low, high, electorate, compared):
    """All delegates in a table's lines, their ranks, and their number."""
    most = (high - low) * table.delegates.shape[2]
    candidates, rank = np.empty(most, np.int32), np.empty(most, np.float64)
    size = 0
    for s in range(low, high):
        if table.members[r, s] > 0:
            for k in range(table.delegates.shape[2]):
                if table.delegates[r, s, k] >= 0:
                    candidates[size] = table.delegates[r, s, k]
                    rank[size] = electorate.rank[table.delegates[r, s, k]]
                    size += 1
    if electorate.by_coverage:
        for c in range(size):
            rank[c] = 0.0
            for s in range(low, high):
                if table.members[r, s] > 0:
                    score = coverage_score(
                        electorate.own[candidates[c]], table.boxes[r, s], table.used[r, s], compared
                    )
                    rank[c] -= table.members[r, s] * score
    return candidates, rank, size


@kernel
def condense(table, r, low, high, compared, target, t, u, compared_there, electorate):
    """Condense slots low to high - 1 of table r into line (t, u) of `target`; returns whether it changed.

    The timestamp is the latest of the lines. Attributes that are not compared in `target` get the range
    [0, 1) in every box, so that boxes do not differ in them.
    """
    members, stamp = 0, NO_STAMP
    most, attributes = target.boxes.shape[2], target.boxes.shape[4]
    boxes, box = np.empty((most + 1, 2, attributes)), np.empty((2, attributes))
    used = np.int64(0)
    for s in range(low, high):
        stamp = max(stamp, table.stamp[r, s])
        if table.members[r, s] == 0:
            continue
        members += table.members[r, s]
        for b in range(table.used[r, s]):
            copy_box(table.boxes[r, s, b], box)
            for k in range(attributes):
                if not compared_there[k]:
                    box[0, k], box[1, k] = 0.0, 1.0
            used = include(boxes, used, most, box)
    delegates = np.empty(target.delegates.shape[2], np.int32)
    candidates, rank, size = _candidates(table, r, low, high, electorate, compared)
    elect(candidates, size, rank, delegates)
    return _put_line(stamp, members, delegates, used, boxes, target, t, u)
