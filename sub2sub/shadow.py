"""The shadow: what a peer already knows to be covered, so that most candidates are rejected at a glance.

A settled peer sees hundreds of candidates for each one it takes, and asking for cover (`sub2sub.cover`)
costs far more than anything else in the ring layer. Selecting ring neighbours is a visibility problem: the
peer's box is the picture, a candidate's distance on the ring is its depth, and nearer neighbours hide
farther ones. So a coarse depth buffer helps, as it does in graphics (Greene, Kass, Miller: *Hierarchical
Z-buffer visibility*, SIGGRAPH 1993).

The box is divided into at most 64 cells, a bit each. For each direction and each of eight depths (the
powers of two below the size of the ring) a word holds the cells known to be covered by neighbours nearer than that. A candidate
whose cells are all set at its depth is superfluous. Bits are learnt from the candidates that the exact test
rejects, and by asking for one of their cells at a time (the ninth word tells which were asked for since the
view last changed). They stay right as long as no neighbour is removed, because a newcomer only covers more.

A cell is the set of points that a rounding, but monotone, function sends to one number, so that no rounding
error can put a point into two cells or none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from sub2sub.compilation import rule

__all__ = ["ASKED", "DEPTHS", "WORDS", "cell_box", "cells_of", "hidden", "learn", "slab_table", "unknown"]

DEPTHS = 8
ASKED = DEPTHS  # place of the word of cells asked for
WORDS = DEPTHS + 1
_NONE, _ALL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)


def slab_table(d: int) -> NDArray[np.uint64]:
    """Masks of cells below each cut: `table[k, c]` are the cells whose number along attribute k is below c.

    `table[k, 65]` holds the number of cells along attribute k.

    Examples
    --------
    >>> [int(cells) for cells in slab_table(3)[:, 65]]
    [4, 4, 4]
    """
    bits = [6 // d + (k < 6 % d) for k in range(d)]
    cells = np.arange(64)
    table = np.zeros((d, 66), np.uint64)
    shift = 0
    for k in range(d):
        number = (cells >> shift) & ((1 << bits[k]) - 1)
        shift += bits[k]
        for cut in range(65):
            table[k, cut] = np.uint64(sum(1 << int(cell) for cell in cells[number < cut]))
        table[k, 65] = 1 << bits[k]
    return table


@intrinsic
def _leading_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.int64), generate


if config.DISABLE_JIT:

    def _bits(number: int) -> int:
        return int(number).bit_length()

else:

    @rule
    def _bits(number):
        return 64 - _leading_zeros(number)


@rule
def cells_of(box, other, d, table):
    """Cells of `box` that `other` touches, and those that lie wholly inside it."""
    touched, inside = _ALL, _ALL
    for k in range(d):
        cells = np.float64(table[k, 65])
        scale = cells / (box[1, k] - box[0, k])
        usable = scale > 0.0 and scale < np.inf  # not wider than the largest float, nor too narrow to divide
        first, after_first = 0, 0
        last = np.int64(cells) - 1
        before_last = last
        if other[0, k] > box[0, k]:
            if usable:
                first = np.int64(min((other[0, k] - box[0, k]) * scale, cells - 1.0))
            after_first = first + 1
        if other[1, k] < box[1, k]:
            if usable:
                last = np.int64(min((other[1, k] - box[0, k]) * scale, cells - 1.0))
            before_last = last - 1
        touched &= table[k, last + 1] & ~table[k, first]
        inside &= table[k, before_last + 1] & ~table[k, min(after_first, before_last + 1)]
    return touched, inside


@rule
def cell_box(box, cell, d, table, out):
    """Write a box that holds a cell, a little larger than the cell where rounding may matter."""
    shift = 0
    for k in range(d):
        cells = np.int64(table[k, 65])
        number = (cell >> shift) & (cells - 1)
        shift += _bits(cells) - 1
        low, high = box[0, k], box[1, k]
        width = (high - low) / cells
        slack = 1e-9 * width + 1e-15 * max(abs(low), abs(high))
        usable = width > 0.0 and width < np.inf
        out[0, k] = max(low, low + number * width - slack) if usable else low
        out[1, k] = min(high, low + (number + 1) * width + slack) if usable and number < cells - 1 else high


@rule
def hidden(known, touched, depth, n):
    """Whether the touched cells are all known to be covered nearer than `depth` (of a ring of n)."""
    level = _bits(n) - _bits(depth)
    return level < DEPTHS and touched & ~known[level] == _NONE


@rule
def unknown(known, touched, depth, n):
    """Touched cells not known to be covered nearer than `depth`, and not asked for yet."""
    level = min(_bits(n) - _bits(depth), DEPTHS - 1)
    return touched & ~known[level] & ~known[ASKED]


@rule
def learn(known, inside, depth, n):
    """Remember that the cells `inside` are covered by neighbours not farther than `depth`."""
    for level in range(min(_bits(n) - _bits(depth), DEPTHS)):
        known[level] |= inside
