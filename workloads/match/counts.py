"""How many subscriptions match each event, on arrays in memory; `workloads.match.rings` does it on Spark.

Who matches is `sub2sub.geometry.matching.match`, which lists every match; here they are only counted, for
workloads whose matches outnumber the memory (55 million for 10,000 events on a million subscriptions).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workloads.match.bitmaps import CHUNK, cut, flips, place, visit_chunk

__all__ = ["Index", "count_matches", "has_at_least"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


_NONE = np.empty(0, np.int64)


class Index:
    """Events and closed boxes laid out for `visit_chunk`, which takes boxes in chunks and events in `order`.

    Examples
    --------
    >>> index = Index(np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]]), np.array([[0.5], [0.2]]))
    >>> index.order.tolist(), index.visit(0).tolist()
    ([1, 0], [1, 2])
    """

    def __init__(self, lows: Floats, highs: Floats, points: Floats) -> None:
        self.lows, self.highs = lows, highs
        self.cuts = cut(lows, highs)
        self.order = np.argsort(points[:, 0], kind="stable")
        self.points = np.ascontiguousarray(points[self.order], np.float64)
        self.slots = place(self.cuts, self.points)

    def visit(
        self,
        start: int,
        events: NDArray[np.int64] | slice = slice(None),
        first: Counts = _NONE,
        offsets: Counts = _NONE,
        members: Counts = _NONE,
    ) -> Counts:
        """How many boxes of the chunk from `start` on contain each of these events; see `visit_chunk`."""
        lows, highs = self.lows[start : start + CHUNK], self.highs[start : start + CHUNK]
        points, slots = self.points[events], self.slots[events]
        counts = np.zeros(len(points), np.int64)
        chunk = flips(self.cuts, lows, highs)
        visit_chunk(*chunk, points, slots, np.int64(start), counts, first, offsets, members)
        return counts


def count_matches(lows: Floats, highs: Floats, points: Floats, enough: int | None = None) -> Counts:
    """How many closed boxes contain each point.

    Parameters
    ----------
    enough : int, optional
        Where counting may stop: a count of `enough` or more only says that there are at least so many.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> count_matches(lows, highs, np.array([[0.2], [0.5], [2.0]])).tolist()
    [1, 2, 0]
    """
    counts = np.zeros(len(points), np.int64)
    if not len(lows) or not len(points):
        return counts
    index = Index(lows, highs, points)
    going: slice | Counts = slice(None)
    for start in range(0, len(lows), CHUNK):
        counts[going] += index.visit(start, going)
        if enough is not None:
            going = np.flatnonzero(counts < enough)
            if not len(going):
                break
    unsorted = np.empty_like(counts)
    unsorted[index.order] = counts
    return unsorted


def has_at_least(lows: Floats, highs: Floats, points: Floats, least: int) -> NDArray[np.bool_]:
    """Whether at least `least` closed boxes contain each point.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> has_at_least(lows, highs, np.array([[0.2], [0.5]]), 2).tolist()
    [False, True]
    """
    return np.greater_equal(count_matches(lows, highs, points, enough=max(1, least)), least)
