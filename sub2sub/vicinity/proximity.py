"""How near two subscriptions are (Sub-2-Sub, Section 4.1): 0 if they overlap, else the boxes' distance.

Read differently from the paper: the printed formula also squares negative gaps, that is overlaps, along the
attributes where two boxes do overlap. Meant is the Euclidean distance between the boxes, whose gap along an
attribute is max(0, max l - min r). With the formula as printed, five attributes never converge.

Many peers overlap one another, and all are at distance 0. Which of them VICINITY keeps is the `Tie`:

- RANDOM: a random choice, renewed all the time. Views stay random samples of the overlapping peers, which
  is what dissemination needs for its shortcuts. The default.
- KEEP: those that came first. Views freeze; ring construction starves.
- SEQUENCE: those whose sequence IDs are nearest. Views become small rings of their own: fastest to
  converge, but no longer random, so that shortcuts lead next door.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.memory import ATTRIBUTES, aligned, padded
from sub2sub.kernels.simd import bits, item, loader, maximum, where

_load_corner = loader(ATTRIBUTES)
_ALL = 2**ATTRIBUTES - 1
# Squared distances are kept as float32, between these: half-open boxes that only touch are at distance 0 and
# yet apart, and below the least there is room to order overlapping peers by.
_LEAST, _MOST = np.float32(1e-30), np.float32(3e38)


class Tie(IntEnum):
    """Which of several overlapping peers VICINITY prefers."""

    RANDOM = 0
    KEEP = 1
    SEQUENCE = 2


def packed_boxes(lows: NDArray[np.float64], highs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half-open boxes as one array (n, 2, width) for the kernels.

    The width is the number of attributes, padded with attributes on which everybody overlaps.

    Examples
    --------
    >>> packed_boxes(np.zeros((5, 3)), np.ones((5, 3))).shape
    (5, 2, 4)
    """
    n, d = lows.shape
    boxes = aligned((n, 2, padded(d, ATTRIBUTES)), 0.0, np.float64)
    boxes[:, 1] = 1.0
    boxes[:, 0, :d], boxes[:, 1, :d] = lows, highs
    return boxes


@rule
def _squared_gap(boxes, i, j, first):
    """Squared distance of two boxes along the attributes from `first` on; -1 if they overlap there."""
    low_i, high_i = _load_corner(boxes[i, 0], first), _load_corner(boxes[i, 1], first)
    low_j, high_j = _load_corner(boxes[j, 0], first), _load_corner(boxes[j, 1], first)
    gap = maximum(low_i - high_j, low_j - high_i)
    apart = gap >= 0.0
    gap = where(apart, gap, 0.0)
    squares = gap * gap
    total = (item(squares, 0) + item(squares, 1)) + (item(squares, 2) + item(squares, 3))
    return total if bits(apart) else -1.0


@rule
def _meet(boxes, i, j, first):
    """Whether two boxes overlap along the attributes from `first` on."""
    low_i, high_i = _load_corner(boxes[i, 0], first), _load_corner(boxes[i, 1], first)
    low_j, high_j = _load_corner(boxes[j, 0], first), _load_corner(boxes[j, 1], first)
    return bits((low_i < high_j) & (low_j < high_i)) == _ALL


@rule
def overlap(boxes, i, j):
    """Whether the boxes of peers i and j share a point."""
    shared = _meet(boxes, i, j, np.int64(0))  # before the loop, as there usually are not more than four
    for first in range(ATTRIBUTES, boxes.shape[2], ATTRIBUTES):
        shared &= _meet(boxes, i, j, first)
    return shared


@rule
def proximity(boxes, i, j, tie):
    """Squared distance between the boxes of peers i and j; 0 when they overlap.

    Under Tie.SEQUENCE overlapping peers get almost 0 (next on the ring) to 1e-30 (opposite).
    """
    total = _squared_gap(boxes, i, j, np.int64(0))
    for first in range(ATTRIBUTES, boxes.shape[2], ATTRIBUTES):
        part = _squared_gap(boxes, i, j, first)
        if part >= 0.0:
            total = max(total, 0.0) + part
    if total >= 0.0:
        return min(max(np.float32(total), _LEAST), _MOST)
    if tie == 2:
        n = boxes.shape[0]
        way = abs(i - j)
        return np.float32(min(way, n - way) / n) * _LEAST
    return np.float32(0.0)
