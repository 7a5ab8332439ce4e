"""The distance of two subscriptions (Sub-2-Sub, Section 4.1): 0 if they overlap, else that of their boxes.

Difference from the paper: the printed formula also squares negative gaps, that is, overlaps along single
attributes. This module uses the Euclidean distance of the boxes, whose gap along an attribute is
max(0, max l - min r). With the formula as printed, views over five attributes never converge.

All peers that overlap a peer are at distance 0. The `Tie` decides which of them VICINITY keeps:

- RANDOM: a random choice that changes all the time. Views stay random samples of the overlapping peers, which
  dissemination needs for its shortcuts. The default.
- KEEP: those that came first. Views no longer change, and the ring layer gets few new candidates.
- SEQUENCE: those with the nearest sequence IDs. Views become small rings, which converge fastest, but are not
  random: shortcuts lead only to near peers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import ATTRIBUTES, aligned, padded
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.simd import bits, item, loader, maximum, where

_load_corner = loader(ATTRIBUTES)
_ALL = 2**ATTRIBUTES - 1
# Squared distances are stored as float32 between these bounds. Half-open boxes that only touch do not
# overlap, so their distance is the least instead of 0; values below the least order overlapping peers.
_LEAST, _MOST = np.float32(1e-30), np.float32(3e38)


def packed_boxes(lows: NDArray[np.float64], highs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half-open boxes as one array (n, 2, width) for the kernels.

    The width is the number of attributes, padded with attributes along which all boxes overlap.

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
    shared = _meet(boxes, i, j, np.int64(0))  # before the loop, as there are rarely more than four
    for first in range(ATTRIBUTES, boxes.shape[2], ATTRIBUTES):
        shared &= _meet(boxes, i, j, first)
    return shared


@rule
def proximity(boxes, i, j, tie):
    """Squared distance between the boxes of peers i and j; 0 when they overlap.

    With Tie.SEQUENCE, overlapping peers get from almost 0 (adjacent on the ring) to 1e-30 (opposite).
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
