"""Ring selection: Figure 3 of Sub-2-Sub, for one node.

Candidates are visited in increasing order of sequence IDs, starting after the node's own and wrapping around.
A candidate is selected as a *successor* if it contains a point of the node's box that no candidate visited
before contains. Visiting in decreasing order selects the *predecessors*. So for every point of the node's
box, the nearest candidates in both directions that contain the point are selected, and each selected
candidate is needed for some point.

Read differently from the paper: ranges are closed, as in Section 2. The remainder of Figure 3 is not kept as
a list of boxes; instead, each candidate is tested for cover, which selects the same candidates: in plain
Python for a few (`sub2sub.rings.plain`), without waiting for a compiler, and compiled for more
(`sub2sub.rings.many`).
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, normalise
from sub2sub.rings import plain
from sub2sub.rings.identifiers import Identifiers, sequence_id, sequence_ids
from sub2sub.tables import Table, shown

FEW = 100  # candidates that are selected from without a compiler


@dataclass(frozen=True, eq=False)
class RingSelection:
    """The result of `select_ring`: indices of candidates, nearest first.

    A candidate may be both a successor and a predecessor: for different points, or in a ring of two.
    """

    successors: NDArray[np.int64]
    predecessors: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        """Whether both select the same candidates in the same order."""
        if not isinstance(other, RingSelection):
            return NotImplemented
        sides = ((self.successors, other.successors), (self.predecessors, other.predecessors))
        return all(np.array_equal(mine, others) for mine, others in sides)

    def _repr_html_(self) -> str:
        """For a notebook: the candidates, nearest first, each with its direction."""
        way = ["successor"] * len(self.successors) + ["predecessor"] * len(self.predecessors)
        candidates = np.concatenate([self.successors, self.predecessors])
        line = f"{len(self.successors)} successors, {len(self.predecessors)} predecessors, nearest first"
        return shown(line, Table({"selected as": np.array(way), "candidate": candidates}))


def select_ring(
    low: ArrayLike, high: ArrayLike, ring_id: int, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike
) -> RingSelection:
    """Select the ring neighbours of a node among candidates.

    Parameters
    ----------
    low, high : (d,) array_like
        The node's subscription, closed ranges.
    ring_id : int
        The node's sequence ID, unsigned 64 bits.
    lows, highs : (n, d) array_like
        The candidates' subscriptions, closed ranges.
    ids : (n,) array_like of unsigned 64 bits
        The candidates' sequence IDs: distinct, and none equal to the node's.

    Returns
    -------
    RingSelection
        `successors` and `predecessors`, index arrays into the candidates, nearest first.

    Raises
    ------
    InputError
        For NaN, low > high, wrong dimensions or duplicate IDs; with the row.

    References
    ----------
    Voulgaris, Rivière, Kermarrec, van Steen: Sub-2-Sub (2006), Figure 3.

    Examples
    --------
    >>> ring = select_ring([0], [10], 50, [[0], [4], [0]], [[5], [10], [10]], [60, 70, 80])
    >>> ring.successors, ring.predecessors
    (array([0, 1]), array([2]))
    """
    own = sequence_id(ring_id)
    if np.ndim(low) != 1 or np.ndim(high) != 1:
        raise InputError(f"low, high: expected shape (d,), got {np.shape(low)}, {np.shape(high)}")
    own_low, own_high = normalise(np.atleast_2d(low), np.atleast_2d(high), ("low", "high"))
    d = own_low.shape[1]
    if all(isinstance(each, Sized) and len(each) == 0 and np.ndim(each) == 1 for each in (lows, highs, ids)):
        return RingSelection(np.empty(0, np.int64), np.empty(0, np.int64))
    low_table, high_table = normalise(lows, highs)
    n = low_table.shape[0]
    if low_table.shape[1] != d:
        raise InputError(f"lows: expected {d} attributes, as `low` has, got {low_table.shape[1]}")
    numbers = sequence_ids(ids, n, own)
    return RingSelection(
        *select_rows(as_rows(own_low, own_high)[0], own, as_rows(low_table, high_table), numbers)
    )


def as_rows(lows: Floats, highs: Floats) -> Floats:
    """Half-open boxes as rows (low, end, low, end, ...).

    Examples
    --------
    >>> as_rows(np.array([[0.0, 1.0]]), np.array([[8.0, 9.0]]))
    array([[0., 8., 1., 9.]])
    """
    return np.stack([lows, highs], axis=2).reshape(len(lows), 2 * lows.shape[1])


def select_rows(
    own: Floats, ring_id: int, boxes: Floats, ids: Identifiers
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`select_ring` for validated half-open boxes, each a row (low, end, low, end, ...).

    Examples
    --------
    >>> boxes = np.array([[0.0, 5.0], [4.0, 9.0], [0.0, 9.0]])
    >>> select_rows(np.array([0.0, 9.0]), 50, boxes, np.array([60, 70, 80], np.uint64))
    (array([0, 1]), array([2]))
    """
    if len(boxes) <= FEW:
        *pairs, mine = [
            tuple(zip(row[::2], row[1::2], strict=True)) for row in [*boxes.tolist(), own.tolist()]
        ]
        selected = plain.select(mine, ring_id, pairs, ids.tolist())
        return np.array(selected[0], np.int64), np.array(selected[1], np.int64)
    from sub2sub.rings import many  # loads numba

    upwards = np.argsort(ids - np.uint64(ring_id))  # modulo 2^64: from the node up the ring to each candidate
    room = many.room(len(boxes), len(own))
    successors, predecessors = (
        room.selected[: many.needed(own, boxes, order, len(order), room)].copy()
        for order in (upwards, upwards[::-1].copy())
    )
    return successors, predecessors
