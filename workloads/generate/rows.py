"""Random numbers of workloads, as a pure function of (seed, row).

Rows are drawn in blocks of 65,536. Each block of each column has its own Philox generator (Salmon et al.,
*Parallel random numbers: as easy as 1, 2, 3*, SC 2011) whose key is (seed, column) and whose counter
starts at the block number. So any machine can draw any block without the others, and the workload does not
depend on the partitioning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.peers.draws import stream_number
from workloads.arrays import Floats, Integers

BLOCK = 65_536
_BITS_TO_UNIT = 2.0**-53


def words(seed: int, column: str, start: int, stop: int) -> NDArray[np.uint64]:
    """64 random bits for each row of [start, stop) of a column.

    Examples
    --------
    >>> whole = words(7, "id", 0, 100_000)
    >>> bool((words(7, "id", 65_530, 65_545) == whole[65_530:65_545]).all())
    True
    """
    key = np.array([seed, stream_number(column)], np.uint64)
    pieces = [np.empty(0, np.uint64)]
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        generator = np.random.Philox(key=key, counter=np.array([0, 0, 0, block], np.uint64))
        drawn = generator.random_raw(min(stop - block * BLOCK, BLOCK))
        pieces.append(drawn[max(start - block * BLOCK, 0) :])
    return np.concatenate(pieces)


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


def ring_ids(seed: int, start: int, stop: int) -> Integers:
    """The sequence IDs, of 63 bits, of the subscribers [start, stop).

    Examples
    --------
    >>> bool((ring_ids(7, 0, 3) >= 0).all())
    True
    """
    return (words(seed, "subscription/ring_id", start, stop) >> np.uint64(1)).astype(np.int64)
