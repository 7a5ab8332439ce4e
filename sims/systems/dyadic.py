"""Ranges as topics: the cells of a dyadic grid, the one around a box, and an exact cover of it.

The space is halved repeatedly, one attribute after the other. With one attribute the cells are the dyadic
intervals, with more those of a k-d tree; they form one binary tree, as topics do. A cell of depth t is the
number 1 b1 b2 ... bt in binary, where the bits are the halves taken; its parent is that number without the
last bit, and the root is 1. Points of a grid of 2^bits values per attribute are the cells of depth bits * d;
their bits are the Morton code (Morton, 1966).

The smallest cell that encloses a box is the common prefix of its two corners. The smallest exact cover
consists of the largest cells inside the box: 2 (bits - 1) at most with one attribute, but with d of them
of the order of 2^(bits (d - 1)), as many as the box has surface.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_BITS = 62


def point_cells(points: Floats, bits: int) -> Integers:
    """The cells of depth bits * d of points of the grid.

    Examples
    --------
    >>> [f"{cell:b}" for cell in point_cells(np.array([[5.0, 0.0], [5.0, 7.0]]), bits=3)]
    ['1100010', '1110111']
    """
    values = np.asarray(points).astype(np.int64)
    d = values.shape[1]
    if bits * d > MOST_BITS:
        raise InputError(f"bits = {bits}: expected at most {MOST_BITS // d} with {d} attributes")
    cells = np.ones(len(values), np.int64)
    for bit in range(bits - 1, -1, -1):
        for axis in range(d):
            cells = cells << 1 | values[:, axis] >> bit & 1
    return cells


def enclosing(lows: Floats, highs: Floats, bits: int) -> Integers:
    """The smallest cell around each closed box.

    Examples
    --------
    >>> [f"{cell:b}" for cell in enclosing(np.array([[4.0], [3.0]]), np.array([[5.0], [4.0]]), bits=3)]
    ['110', '1']
    """
    low, high = point_cells(lows, bits), point_cells(highs, bits)
    while (apart := low != high).any():
        low, high = np.where(apart, low >> 1, low), np.where(apart, high >> 1, high)
    return low


def cover(lows: Floats, highs: Floats, bits: int, most: int) -> tuple[Integers, Integers] | None:
    """The smallest set of cells that makes up each closed box exactly; None if there are more than `most`.

    Returns
    -------
    offsets, cells
        Those of box i are ``cells[offsets[i] : offsets[i + 1]]``, disjoint.

    Examples
    --------
    >>> offsets, cells = cover(np.array([[1.0]]), np.array([[6.0]]), bits=3, most=100)
    >>> [f"{cell:b}" for cell in cells]  # 1, 2 to 3, 4 to 5, 6
    ['1001', '101', '110', '1110']
    """
    low, high = np.asarray(lows).astype(np.int64), np.asarray(highs).astype(np.int64)
    point_cells(lows[:1], bits)  # refuses grids that are too fine
    cells = np.empty(most, np.int64)
    offsets = np.zeros(len(low) + 1, np.int64)
    return (offsets, cells[: offsets[-1]].copy()) if _cover_all(low, high, bits, cells, offsets) else None


@kernel
def _cover_all(lows, highs, bits, cells, offsets):
    n, d = lows.shape
    deepest = bits * d
    waiting = np.empty(deepest + 2, np.int64)
    corner, extent = np.empty((deepest + 2, d), np.int64), np.empty((deepest + 2, d), np.int64)
    at = np.int64(0)
    for box in range(n):
        size = 1
        waiting[0] = 1
        corner[0, :] = 0
        extent[0, :] = np.int64(1) << bits
        while size > 0:
            size -= 1
            cell = waiting[size]
            inside, apart = True, False
            for axis in range(d):
                low, last = corner[size, axis], corner[size, axis] + extent[size, axis] - 1
                inside &= lows[box, axis] <= low and last <= highs[box, axis]
                apart |= last < lows[box, axis] or highs[box, axis] < low
            if apart:
                continue
            if inside:
                if at == cells.shape[0]:
                    return False
                cells[at] = cell
                at += 1
                continue
            depth = 0
            while cell >> (depth + 1) > 0:
                depth += 1
            axis = depth % d
            # The lower half is looked at first, so it goes on top.
            corner[size + 1], extent[size + 1] = corner[size], extent[size]
            half = extent[size, axis] >> 1
            extent[size, axis], extent[size + 1, axis] = half, half
            corner[size, axis] += half
            waiting[size], waiting[size + 1] = cell << 1 | 1, cell << 1
            size += 2
        offsets[box + 1] = at
    return True
