"""Rows as a pure function of (seed, row): the randomness under every workload.

Rows come in blocks of 65,536. Each block of each column has its own Philox generator (Salmon et al.,
*Parallel random numbers: as easy as 1, 2, 3*, SC 2011) whose key is (seed, column) and whose counter
starts at the block number, so any machine can make any block without the others, and the same workload
comes out whatever the partitioning.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.randomness import stream_number

BLOCK = 65_536
_BITS_TO_UNIT = 2.0**-53

Floats = NDArray[np.float64]


def blocks(start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """The blocks under rows [start, stop): (block, first row, last row + 1) of each.

    Examples
    --------
    >>> list(blocks(65_000, 66_000))
    [(0, 65000, 65536), (1, 65536, 66000)]
    """
    while start < stop:
        block = start // BLOCK
        end = min(stop, (block + 1) * BLOCK)
        yield block, start, end
        start = end


def words(seed: int, column: str, start: int, stop: int) -> NDArray[np.uint64]:
    """64 random bits for each row of [start, stop) of a column.

    Examples
    --------
    >>> whole = words(7, "id", 0, 100_000)
    >>> bool((words(7, "id", 65_530, 65_545) == whole[65_530:65_545]).all())
    True
    """
    out = np.empty(max(0, stop - start), np.uint64)
    key = np.array([seed, stream_number(column)], np.uint64)
    for block, first, last in blocks(start, stop):
        generator = np.random.Philox(key=key, counter=np.array([0, 0, 0, block], np.uint64))
        drawn = generator.random_raw(last - block * BLOCK)
        out[first - start : last - start] = drawn[first - block * BLOCK :]
    return out


def uniforms(seed: int, column: str, start: int, stop: int) -> Floats:
    """One uniform number in [0, 1) with 53 random bits for each row of [start, stop) of a column.

    Examples
    --------
    >>> u = uniforms(7, "price", 0, 3)
    >>> u.shape, bool(((0 <= u) & (u < 1)).all())
    ((3,), True)
    """
    bits = (words(seed, column, start, stop) >> np.uint64(11)).astype(np.float64)
    return bits * _BITS_TO_UNIT
