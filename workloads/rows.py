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

from sub2sub.randomness import stream_number

__all__ = ["BLOCK", "blocks", "uniforms"]

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


def uniforms(seed: int, column: str, start: int, stop: int) -> Floats:
    """One uniform number in [0, 1) with 53 random bits for each row of [start, stop) of a column.

    Examples
    --------
    >>> whole = uniforms(7, "price", 0, 100_000)
    >>> bool((uniforms(7, "price", 65_530, 65_545) == whole[65_530:65_545]).all())
    True
    """
    out = np.empty(max(0, stop - start), np.float64)
    key = np.array([seed, stream_number(column)], np.uint64)
    for block, first, last in blocks(start, stop):
        generator = np.random.Philox(key=key, counter=np.array([0, 0, 0, block], np.uint64))
        words = generator.random_raw(last - block * BLOCK)[first - block * BLOCK :]
        np.multiply(words >> np.uint64(11), _BITS_TO_UNIT, out=out[first - start : last - start])
    return out
