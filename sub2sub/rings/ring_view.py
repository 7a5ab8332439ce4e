"""RingView: the ring neighbours of one node, kept up to date while candidates come and go.

The view keeps every candidate that it was told of and that shares a point with the node's box. Who is not
selected is covered by nearer neighbours (Figure 3 of Sub-2-Sub), and more candidates cannot change that. So
newcomers are compared with the neighbours alone; only when a neighbour goes are all candidates asked again.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, normalise, points
from sub2sub.rings.identifiers import Identifiers, sequence_id, sequence_ids
from sub2sub.rings.selection import as_rows, select_rows


class RingNeighbours(NamedTuple):
    """The sequence IDs of a node's neighbours at one time, nearest first.

    Examples
    --------
    >>> before = RingNeighbours(np.array([60], np.uint64), np.array([40], np.uint64))
    >>> now = RingNeighbours(np.array([55], np.uint64), np.array([40], np.uint64))
    >>> now.changes_since(before)
    (array([55], dtype=uint64), array([60], dtype=uint64))
    """

    successors: Identifiers
    predecessors: Identifiers

    def ids(self) -> Identifiers:
        """All neighbours, in increasing order of their IDs."""
        return np.union1d(self.successors, self.predecessors)

    def changes_since(self, before: RingNeighbours) -> tuple[Identifiers, Identifiers]:
        """Who has become a neighbour since `before`, and who is none any more."""
        old, new = before.ids(), self.ids()
        return np.setdiff1d(new, old), np.setdiff1d(old, new)


class _Known(NamedTuple):
    """What a view holds at one time; replaced as a whole, so that readers need no lock."""

    boxes: Floats
    ids: Identifiers
    successors: NDArray[np.int64]
    predecessors: NDArray[np.int64]


class RingView:
    """The ring neighbours of one node among all candidates that it was told of and that are still alive.

    One thread at a time changes the view, others wait; reading it needs no lock and shows one state.

    Parameters
    ----------
    low, high : (d,) array_like
        The node's subscription, closed ranges.
    ring_id : int
        The node's sequence ID, unsigned 64 bits.

    Examples
    --------
    >>> view = RingView([0], [10], 50)
    >>> view.add([[0], [4], [0]], [[5], [10], [10]], [60, 70, 80])
    >>> view.neighbours.successors, view.neighbours.predecessors
    (array([60, 70], dtype=uint64), array([80], dtype=uint64))
    >>> view.remove([60])
    >>> view.neighbours.successors
    array([70, 80], dtype=uint64)
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, ring_id: int) -> None:
        self.id = sequence_id(ring_id)
        if np.ndim(low) != 1 or np.ndim(high) != 1:
            raise InputError(f"low, high: expected shape (d,), got {np.shape(low)}, {np.shape(high)}")
        self._own = as_rows(*normalise(np.atleast_2d(low), np.atleast_2d(high), ("low", "high")))[0]
        self._writing = Lock()
        nobody = np.empty(0, np.int64)
        self._known = _Known(np.empty((0, len(self._own))), np.empty(0, np.uint64), nobody, nobody)

    def __repr__(self) -> str:
        known = self._known
        return (
            f"<RingView of {self.id}: {len(known.successors)} successors and "
            f"{len(known.predecessors)} predecessors among {len(known.ids)} candidates>"
        )

    @property
    def neighbours(self) -> RingNeighbours:
        """The IDs of the neighbours now; this value stays as it is while the view changes."""
        known = self._known
        return RingNeighbours(known.ids[known.successors], known.ids[known.predecessors])

    def add(self, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike) -> None:
        """Take up candidates, closed ranges (n, d) and sequence IDs (n,); a known ID gets the new ranges.

        Raises
        ------
        InputError
            As `sub2sub.select_ring` does, with the row.
        """
        low, high = normalise(lows, highs)
        if 2 * low.shape[1] != len(self._own):
            raise InputError(f"lows: expected {len(self._own) // 2} attributes, got {low.shape[1]}")
        numbers, boxes = sequence_ids(ids, len(low), self.id), as_rows(low, high)
        near = (np.maximum(self._own[::2], low) < np.minimum(self._own[1::2], high)).all(axis=1)
        with self._writing:
            known = self._without(numbers)
            kept = np.union1d(known.successors, known.predecessors)
            rows = np.concatenate([kept, len(known.ids) + np.arange(near.sum())])
            boxes, numbers = np.vstack([known.boxes, boxes[near]]), np.concatenate([known.ids, numbers[near]])
            successors, predecessors = select_rows(self._own, self.id, boxes[rows], numbers[rows])
            self._known = _Known(boxes, numbers, rows[successors], rows[predecessors])

    def remove(self, ids: ArrayLike) -> None:
        """Forget candidates that are gone; IDs that the view does not know are passed over."""
        gone = sequence_ids(ids, len(np.atleast_1d(ids)))
        with self._writing:
            self._known = self._without(gone)

    def _without(self, gone: Identifiers) -> _Known:
        known = self._known
        stays = ~np.isin(known.ids, gone)
        boxes, ids = known.boxes[stays], known.ids[stays]
        if stays[known.successors].all() and stays[known.predecessors].all():
            row = np.cumsum(stays) - 1
            return _Known(boxes, ids, row[known.successors], row[known.predecessors])
        return _Known(boxes, ids, *select_rows(self._own, self.id, boxes, ids))

    def links(self, event: ArrayLike) -> tuple[int | None, int | None]:
        """The IDs of the nearest successor and predecessor that match an event; None where nobody does.

        Examples
        --------
        >>> view = RingView([0], [10], 50)
        >>> view.add([[0], [4]], [[5], [10]], [60, 70])
        >>> view.links([9]), view.links([4.5])
        ((70, 70), (60, 70))
        """
        known, point = self._known, points(np.atleast_2d(event), len(self._own) // 2)[0]
        nearest: list[int | None] = []
        for side in (known.successors, known.predecessors):
            boxes = known.boxes[side]
            matching = np.flatnonzero(((boxes[:, ::2] <= point) & (point < boxes[:, 1::2])).all(axis=1))
            nearest.append(int(known.ids[side[matching[0]]]) if len(matching) else None)
        return nearest[0], nearest[1]
