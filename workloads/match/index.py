"""The faster of two indexes for given boxes and events: bitmaps, or a tree of the events.

Bitmaps take the same time for wide and narrow ranges. The time of the tree grows with the number of leaves
that a box reaches. Both are estimated in nanoseconds of one core, as measured by `benchmarks/matching.py`. A
wrong estimate only costs time: both indexes are exact.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from workloads.arrays import Floats
from workloads.match.bitmaps import Bitmaps
from workloads.match.event_tree import EventTree, leaves_reached, rank_widths

_BITMAP = 0.01  # per box, event and attribute
_FLIP = 120.0  # per box and attribute: sorting its two ends
_DESCENT = 12.0  # per box and level of the tree
_LEAF = 25.0  # per leaf and attribute
_HALVING = 6.0  # per event and level: building the tree


Index: TypeAlias = Bitmaps | EventTree
"""Closed boxes and the events that they contain."""


def make_index(lows: Floats, highs: Floats, points: Floats, enough: int | None = None) -> Index:
    """An index of closed boxes (n, d) and events (m, d); `enough` as it will be passed to `count`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> lows, points = rng.random((20_000, 2)), rng.random((20_000, 2))
    >>> [type(make_index(lows, lows + width, points)).__name__ for width in (0.001, 0.3)]
    ['EventTree', 'Bitmaps']
    """
    if not len(lows) or not len(points):
        return EventTree(lows, highs, points)
    by_tree, by_bitmaps = _costs(lows, highs, points, enough)
    return (EventTree if by_tree < by_bitmaps else Bitmaps)(lows, highs, points)


def _costs(lows: Floats, highs: Floats, points: Floats, enough: int | None) -> tuple[float, float]:
    """Nanoseconds of counting by a tree and by bitmaps."""
    (n, d), m = lows.shape, len(points)
    widths = rank_widths(lows, highs, points)
    levels = np.log2(max(2, m))
    tree = n * (_DESCENT * levels + _LEAF * d * leaves_reached(widths, m)) + _HALVING * m * levels
    if enough is not None:  # bitmaps stop after about this many boxes, which contain enough matches
        n = int(min(n, enough / max(widths.prod(axis=1).mean(), 1e-9)))
    return float(tree), float(n * d * (_BITMAP * m + _FLIP))
