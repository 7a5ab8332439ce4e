"""How near two subscriptions are (004, Section 4.1): 0 when they overlap, else the distance between the boxes.

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

from sub2sub.compilation import rule
from sub2sub.lanes import ATTRIBUTES, aligned, gap_lanes, overlap_lanes, padded

__all__ = ["Tie", "overlap", "packed_boxes", "proximity"]

_LEAST = np.float32(1e-38)


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
def overlap(boxes, i, j):
    """Whether the boxes of peers i and j share a point."""
    width = boxes.shape[2]
    a, b = i * 2 * width, j * 2 * width
    for k in range(0, width, ATTRIBUTES):
        if not overlap_lanes(boxes, a + k, b + k, width):
            return False
    return True


@rule
def proximity(boxes, i, j, tie):
    """Squared distance between the boxes of peers i and j; not above 0 when they overlap.

    Under Tie.SEQUENCE overlapping peers get -1 (next on the ring) to 0 (opposite).
    """
    width = boxes.shape[2]
    a, b = i * 2 * width, j * 2 * width
    total = gap_lanes(boxes, a, b, width)
    for k in range(ATTRIBUTES, width, ATTRIBUTES):
        part = gap_lanes(boxes, a + k, b + k, width)
        if part >= 0.0:
            total = max(total, 0.0) + part
    if total >= 0.0:  # half-open boxes that only touch share no point: at distance 0, and yet apart
        return max(np.float32(total), _LEAST)
    if tie == 2:
        n = boxes.shape[0]
        way = abs(i - j)
        return np.float32(2.0 * min(way, n - way) / n - 1.0)
    return np.float32(0.0)
