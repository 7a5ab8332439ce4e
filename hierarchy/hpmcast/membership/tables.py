"""Tables of lines: what a participant knows of one level (hpmcast, Sections 4.2.1 and 4.2.2, Figure 5).

A `Table` holds the tables of one level for many participants, as arrays. Row r is one table, slot s of it the
line of the subsystem (at level 1: of the participant) whose address component is s. `condense` makes
one line of the next level out of a table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.membership.condensation import copy_box, coverage_score, elect, include
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Boxes
from sub2sub.kernels.compilation import kernel

NEVER = -1  # the timestamp of a line nobody has told about


class Table(NamedTuple):
    """The tables of one level.

    Attributes
    ----------
    stamp : (rows, slots) int32
        The cycle a line speaks of; NEVER for one not heard of.
    members : (rows, slots) int32
        Participants the line stands for; 0 for one that is empty or known to be gone.
    delegates : (rows, slots, R) int32
        Participants to contact, -1 for none; at level 1 the participant itself.
    used : (rows, slots) int32
        How many of the boxes count.
    boxes : (rows, slots, K, 2, d) float64
        The joint interest: half-open boxes, lows and highs.
    """

    stamp: NDArray[np.int32]
    members: NDArray[np.int32]
    delegates: NDArray[np.int32]
    used: NDArray[np.int32]
    boxes: NDArray[np.float64]


class Electorate(NamedTuple):
    """What an election looks at.

    Attributes
    ----------
    own : (n, 2, d) float64
        Each participant's own interest.
    rank : (n,) float64
        Least first, equals by address: 0 for the smallest addresses, minus the capacity for the strongest.
    by_coverage : int
        1 to rank by how much of the joint interest `own` covers instead.
    """

    own: NDArray[np.float64]
    rank: NDArray[np.float64]
    by_coverage: int


def electorate(n: int, interests: Boxes | None, capacity: ArrayLike | None, by_coverage: bool) -> Electorate:
    """What elections look at: without interests nothing is filtered, without capacities addresses decide.

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


def empty_table(rows: int, slots: int, redundancy: int, most: int, attributes: int) -> Table:
    """Tables that know nothing.

    Examples
    --------
    >>> empty_table(rows=2, slots=5, redundancy=3, most=4, attributes=1).boxes.shape
    (2, 5, 4, 2, 1)
    """
    return Table(
        np.full((rows, slots), NEVER, np.int32),
        np.zeros((rows, slots), np.int32),
        np.full((rows, slots, redundancy), -1, np.int32),
        np.zeros((rows, slots), np.int32),
        np.zeros((rows, slots, most, 2, attributes), np.float64),
    )


@kernel
def copy_line(source, r, s, target, t, u):
    """Copy line (r, s) of one table over line (t, u) of another; whether more than its stamp is new."""
    target.stamp[t, u] = source.stamp[r, s]
    changed = target.members[t, u] != source.members[r, s] or target.used[t, u] != source.used[r, s]
    target.members[t, u] = source.members[r, s]
    target.used[t, u] = source.used[r, s]
    for k in range(source.delegates.shape[2]):
        changed |= target.delegates[t, u, k] != source.delegates[r, s, k]
        target.delegates[t, u, k] = source.delegates[r, s, k]
    for b in range(source.used[r, s]):
        for end in range(2):
            for k in range(source.boxes.shape[4]):
                changed |= target.boxes[t, u, b, end, k] != source.boxes[r, s, b, end, k]
                target.boxes[t, u, b, end, k] = source.boxes[r, s, b, end, k]
    return changed


@kernel
def _candidates(table, r, low, high, electorate, compared):
    """All delegates of a table's lines and their ranks."""
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
    """Condense slots low to high - 1 of table r into line (t, u) of `target`; whether that line changed.

    The stamp becomes the latest of the lines': a line is as new as the newest thing it takes into account.
    Attributes that are not compared in `target` get the range [0, 1) in every box, so that they
    keep no two boxes apart.
    """
    members, stamp = 0, NEVER
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

    changed = target.members[t, u] != members or target.used[t, u] != used
    target.stamp[t, u], target.members[t, u], target.used[t, u] = stamp, members, used
    for k in range(delegates.shape[0]):
        changed |= target.delegates[t, u, k] != delegates[k]
        target.delegates[t, u, k] = delegates[k]
    for b in range(used):
        for end in range(2):
            for k in range(attributes):
                changed |= target.boxes[t, u, b, end, k] != boxes[b, end, k]
                target.boxes[t, u, b, end, k] = boxes[b, end, k]
    return changed
