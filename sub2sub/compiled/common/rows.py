"""Searching and shifting stretches of 32-bit words, sixteen at a time.

A stretch is `count` items of a row from `first` on; behind it there are `LANES32` more items to read.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.common.memory import LANES32
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.simd import (
    bits,
    first_bit,
    in_all_lanes,
    least,
    load,
    minimum,
    numbers,
    popcount,
    store,
    where,
)

_MOST = np.int32(2**31 - 1)


@rule
def place_of_value(row, first, count, value):
    """First place of a value in a stretch, counted from `first`; -1 if it is not there."""
    for start in range(0, count, LANES32):
        found = bits((load(row, first + start) == value) & (numbers(start) < count))
        if found:
            return start + first_bit(found)
    return np.int64(-1)


@rule
def count_below(row, first, count, value):
    """How many of a stretch are less than a value; in a sorted one, where the value belongs."""
    below = np.int64(0)
    for start in range(0, count, LANES32):
        below += popcount(bits((load(row, first + start) < value) & (numbers(start) < count)))
    return below


@rule
def least_value(row, first, count):
    """The least value of a stretch."""
    lowest = in_all_lanes(_MOST)
    for start in range(0, count, LANES32):
        lowest = minimum(lowest, where(numbers(start) < count, load(row, first + start), _MOST))
    return np.int64(least(lowest))


@rule
def shift(row, first, count, by):
    """Move a stretch by one place, up (1) or down (-1); the place it frees keeps its value."""
    chunks = (count + LANES32 - 1) // LANES32
    for k in range(chunks):
        # What moves up moves last things first, so that nothing is overwritten before it has moved.
        start = (chunks - 1 - k if by > 0 else k) * LANES32
        moved, target = load(row, first + start), first + start + by
        store(row, target, where(numbers(start) < count, moved, load(row, target)))
