"""Rows of a table of peers: packed to the left, padded with -1, each peer at most once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.machinery.compilation import kernel


@kernel
def entries(row):
    """Number of entries of a row."""
    count = 0
    while count < len(row) and row[count] >= 0:
        count += 1
    return count


@kernel
def find(row, size, peer):
    """Position of `peer` among the first `size` entries; -1 if it is not there."""
    for i in range(size):
        if row[i] == peer:
            return i
    return -1


@kernel
def add(rows, sizes, owner, peer):
    """Append a peer to the owner's row, which must have a free entry."""
    rows[owner, sizes[owner]] = peer
    sizes[owner] += 1


@kernel
def remove_at(rows, sizes, owner, place):
    """Remove the entry at `place`; the last entry moves there."""
    last = sizes[owner] - 1
    rows[owner, place] = rows[owner, last]
    rows[owner, last] = -1
    sizes[owner] = last


def named(n: int, *tables: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Which of n peers appear in any of the given tables, which are padded with -1.

    Examples
    --------
    >>> named(4, np.array([[2, -1]]), np.array([0])).tolist()
    [True, False, True, False]
    """
    mask = np.zeros(n + 1, bool)  # the last place takes the padding
    for table in tables:
        mask[table.ravel()] = True
    return mask[:n]
