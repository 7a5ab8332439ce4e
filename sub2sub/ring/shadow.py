"""The shadow: what a peer already knows to be covered, so that most candidates are rejected at a glance.

A settled peer sees hundreds of candidates for each one it takes, and asking for cover
(`sub2sub.geometry.cover`) costs far more than anything else in the ring layer. Selecting ring neighbours is a
visibility problem: the peer's box is the picture, a candidate's distance on the ring is its depth, and nearer
neighbours hide farther ones. So a coarse depth buffer helps, as it does in graphics (Greene, Kass, Miller:
*Hierarchical Z-buffer visibility*, SIGGRAPH 1993).

The box is divided into at most 64 cells. For each direction a byte per cell holds the depth, on a logarithmic
scale, up to which neighbours suffice to cover it. A candidate that touches only cells covered nearer than
itself is superfluous. Depths are learnt from the candidates that the exact test rejects, and by asking for
one of their cells at a time (a bit per cell tells which were asked for since the view last changed). They
stay right as long as no neighbour is removed, because a newcomer only covers more.

A cell is the set of points that a rounding, but monotone, function sends to one number, so that no rounding
error can put a point into two cells or none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.simd.cells import (
    BASE,
    BITS,
    CELLS,
    COUNT,
    HIGH,
    LOW,
    TOP,
    bits_of,
    deepest_cell,
    inside_lanes,
    scale_lanes,
    touched_lanes,
)
from sub2sub.kernels.simd.links import ATTRIBUTES, padded

__all__ = ["CELLS", "UNKNOWN", "Frame", "cell_piece", "depth_code", "frame_of", "inside_cells", "new_frame",
           "touched_cells"]  # fmt: skip

UNKNOWN = 255


class Frame(NamedTuple):
    """How a peer's box is divided into cells."""

    bounds: NDArray[
        np.int32
    ]  # (6, width) low and high of the box; last cell, cells, start in the table, bits
    scale: NDArray[np.float32]  # (width,) cells to a unit
    reach: NDArray[np.int64]  # (2,) how far up and down neighbours can matter: farther on all is covered
    table: NDArray[np.int64]  # cells whose number along an attribute is between two others, see `new_frame`


def new_frame(d: int) -> Frame:
    """A frame for boxes of d attributes: up to 64 cells, at most 16 along an attribute.

    `table[base + first * count + last]` are the cells from `first` to `last` along the attribute.

    Examples
    --------
    >>> new_frame(3).bounds[COUNT]
    array([4, 4, 4, 1], dtype=int32)
    """
    width = padded(d, ATTRIBUTES)
    bounds = np.zeros((6, width), np.int32)
    bounds[HIGH] = 1
    bounds[BITS, :d] = [min(6 // d + (k < 6 % d), 4) for k in range(d)]
    numbers = np.arange(CELLS)
    table: list[np.int64] = []
    for k in range(width):
        count = 1 << int(bounds[BITS, k])
        bounds[TOP, k], bounds[COUNT, k], bounds[BASE, k] = count - 1, count, len(table)
        for first in range(count):
            for last in range(count):
                chosen = (first <= numbers % count) & (numbers % count <= last)
                table.append(np.packbits(chosen, bitorder="little").view(np.int64)[0])
        numbers = numbers // count
    return Frame(bounds, np.ones(width, np.float32), np.zeros(2, np.int64), np.array(table, np.int64))


@rule
def depth_code(way):
    """Logarithm of a distance on the ring in eighths, rounded down; distances are at least 1."""
    bits = bits_of(way)
    return 8 * (bits - 1) + (((way << 3) >> (bits - 1)) & 7)


@rule
def _least_way(code):
    """The least distance with that code, or more than any if there is none."""
    return min((((8 + (code & 7)) << (code >> 3)) + 7) >> 3, np.int64(2**31 - 1))


@rule
def frame_of(boxes, shadow, t, frame):
    """Lay the frame over the box of t."""
    for side in range(2):
        frame.reach[side] = _least_way(deepest_cell(shadow, (2 * t + side) * CELLS))
    scale_lanes(boxes, t, frame.bounds, frame.scale)


@rule
def touched_cells(boxes, x, frame):
    """Cells of the framed box that the box of x touches: 0 if it does not overlap at all."""
    return touched_lanes(boxes, x, frame.bounds, frame.scale, frame.table)


@rule
def inside_cells(boxes, x, frame):
    """Cells of the framed box that lie wholly inside the box of x."""
    return inside_lanes(boxes, x, frame.bounds, frame.scale, frame.table)


@rule
def cell_piece(frame, cell, d, piece):
    """Write a piece that holds a cell, a little larger than the cell as rounding may matter."""
    for k in range(d):
        low, high = np.int64(frame.bounds[LOW, k]), np.int64(frame.bounds[HIGH, k])
        bits, wide = np.int64(frame.bounds[BITS, k]), high - low
        number = cell & frame.bounds[TOP, k]
        cell >>= bits
        slack = (wide >> 20) + 2
        piece[2 * k] = max(low, low + ((number * wide) >> bits) - slack)
        piece[2 * k + 1] = min(high, low + (((number + 1) * wide) >> bits) + slack)
