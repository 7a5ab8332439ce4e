"""The shadow: which parts of a peer's box are known to be covered, to reject most candidates cheaply.

A peer whose view has converged sees hundreds of candidates for each one that it accepts, and the exact test
for cover (`sub2sub.compiled.ring_views.cover`) costs far more than anything else in the ring layer. Selecting
ring neighbours is a visibility problem: the peer's box is the picture, a candidate's distance on the ring is
its depth, and nearer neighbours hide farther ones. So a coarse depth buffer helps, as in graphics (Greene,
Kass, Miller: *Hierarchical Z-buffer visibility*, SIGGRAPH 1993).

The box is divided into at most 64 cells. For each direction, a byte per cell holds the depth, on a
logarithmic scale, up to which neighbours suffice to cover the cell. A candidate is superfluous if it touches
only cells that are covered by nearer neighbours. Depths are learnt from candidates that the exact test
rejects, and, in a view that did not change in this cycle, by testing one cell of such a candidate (a bit per
cell records which were tested since the view last changed). Depths stay correct as long as no neighbour is
removed, because a new neighbour only covers more.

A cell is the set of points that a monotone function with rounding maps to one number, so every point is in
exactly one cell despite rounding errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import ATTRIBUTES, padded
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.machinery.simd import (
    as_floats,
    as_ints,
    bit_length,
    bits,
    flags,
    greatest,
    item,
    load,
    loader,
    maximum,
    minimum,
    store,
    where,
)

CELLS = 64
LOW, HIGH, TOP, COUNT, BASE, BITS = range(6)  # rows of `Frame.bounds`
UNKNOWN = 255
_ALL = 2**ATTRIBUTES - 1
_load_four = loader(ATTRIBUTES)


@by_reference
class Frame(NamedTuple):
    """The division of a peer's box into cells."""

    # (6, width) for each attribute: low and high of the box, last cell, cells, start in the table, bits
    bounds: NDArray[np.int32]
    scale: NDArray[np.float32]  # (width,) cells per unit
    reach: NDArray[np.int64]  # (2,) ways up and down beyond which no neighbour is needed: all is covered
    table: NDArray[np.int64]  # masks of cells between two numbers along an attribute, see `new_frame`


def new_frame(d: int) -> Frame:
    """A frame for boxes of d attributes: up to 64 cells, at most 16 along an attribute.

    `table[base + first * count + last]` is the mask of the cells from `first` to `last` along the attribute.

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
    """Logarithm (base 2) of a distance on the ring in eighths, rounded down; distances are at least 1."""
    length = bit_length(way)
    return 8 * (length - 1) + (((way << 3) >> (length - 1)) & 7)


@rule
def _least_way(code):
    """The least distance with that code; a number greater than all distances if there is none."""
    return min((((8 + (code & 7)) << (code >> 3)) + 7) >> 3, np.int64(2**31 - 1))


@rule
def deeper_cells(shadow, t, side, depth):
    """Cells of t that are covered only by neighbours deeper than `depth`, as bits."""
    return bits(load(shadow[t, side], 0) > depth)


@rule
def lower_cells(shadow, t, side, cells, depth):
    """Note that neighbours up to `depth` suffice to cover these cells."""
    known = load(shadow[t, side], 0)
    store(shadow[t, side], 0, where(flags(cells), minimum(known, depth), known))


@rule
def frame_of(boxes, shadow, t, frame):
    """Fit the frame to the box of t."""
    for side in range(2):
        frame.reach[side] = _least_way(np.int64(greatest(load(shadow[t, side], 0))))
    for first in range(0, boxes.shape[2], ATTRIBUTES):
        low, high = _load_four(boxes[t, 0], first), _load_four(boxes[t, 1], first)
        store(frame.bounds[LOW], first, low)
        store(frame.bounds[HIGH], first, high)
        cells = as_floats(_load_four(frame.bounds[COUNT], first))
        store(frame.scale, first, cells / as_floats(high - low))


@rule
def _cell_numbers(ends, low, high, last, scale):
    """Numbers of the cells of points, along four attributes; points outside count as those at the edge."""
    inside = minimum(maximum(ends, low), high - 1)
    return minimum(as_ints(as_floats(inside - low) * scale), last)


@rule
def _cells_between(frame, attribute, first, last):
    """Mask of the cells whose numbers along four attributes are between `first` and `last`."""
    entries = (
        first * _load_four(frame.bounds[COUNT], attribute) + last + _load_four(frame.bounds[BASE], attribute)
    )
    table = frame.table
    return (
        table[item(entries, 0)] & table[item(entries, 1)] & table[item(entries, 2)] & table[item(entries, 3)]
    )


@rule
def touched_cells(boxes, x, frame):
    """Mask of the cells that the box of x touches; 0 if it does not overlap the framed box."""
    cells = np.int64(-1)
    for k in range(0, boxes.shape[2], ATTRIBUTES):
        low, high = _load_four(boxes[x, 0], k), _load_four(boxes[x, 1], k)
        own_low, own_high = _load_four(frame.bounds[LOW], k), _load_four(frame.bounds[HIGH], k)
        last_cell, scale = _load_four(frame.bounds[TOP], k), _load_four(frame.scale, k)
        first = _cell_numbers(low, own_low, own_high, last_cell, scale)
        last = _cell_numbers(high - 1, own_low, own_high, last_cell, scale)
        cells &= _cells_between(frame, k, first, last)
        cells = cells if bits((low < own_high) & (own_low < high)) == _ALL else np.int64(0)
    return cells


@rule
def inside_cells(boxes, x, frame):
    """Mask of the cells that lie wholly inside the box of x."""
    cells = np.int64(-1)
    for k in range(0, boxes.shape[2], ATTRIBUTES):
        low, high = _load_four(boxes[x, 0], k), _load_four(boxes[x, 1], k)
        own_low, own_high = _load_four(frame.bounds[LOW], k), _load_four(frame.bounds[HIGH], k)
        last_cell, scale = _load_four(frame.bounds[TOP], k), _load_four(frame.scale, k)
        # The cells after that of the last point before the box, and before that of the first point after it.
        first = _cell_numbers(low - 1, own_low, own_high, last_cell, scale) + 1
        last = _cell_numbers(high, own_low, own_high, last_cell, scale) - 1
        first, last = where(low > own_low, first, 0), where(high < own_high, last, last_cell)
        some = (low < own_high) & (own_low < high) & (first <= last)
        cells &= _cells_between(frame, k, where(some, first, 0), where(some, last, 0))
        cells = cells if bits(some) == _ALL else np.int64(0)
    return cells


@rule
def cell_piece(frame, cell, d, piece):
    """Write a piece that contains a cell, a little larger than the cell because of rounding."""
    for k in range(d):
        low, high = np.int64(frame.bounds[LOW, k]), np.int64(frame.bounds[HIGH, k])
        halvings, wide = np.int64(frame.bounds[BITS, k]), high - low
        number = cell & frame.bounds[TOP, k]
        cell >>= halvings
        slack = (wide >> 20) + 2
        piece[2 * k] = max(low, low + ((number * wide) >> halvings) - slack)
        piece[2 * k + 1] = min(high, low + (((number + 1) * wide) >> halvings) + slack)
