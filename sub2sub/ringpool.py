"""Where ring views are kept: one pool for a population, a stretch of it for each peer.

Ring views cannot be capped: a wide subscription needs hundreds of neighbours where most need a few dozen, and
a cap leaves rings open for ever. Rows as wide as the widest view would fill the memory with nothing. So a
view that is full moves to a stretch half as large again at the end of the pool, and a pool that is full is
laid out anew. Neighbours stand in the order of the ring, starting after their holder.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import hot, rule
from sub2sub.shadow import WORDS

__all__ = ["RingPool", "empty_pool", "fits", "repack", "stretch"]

SMALLEST = 16


class RingPool(NamedTuple):
    """The ring views of a population."""

    start: NDArray[np.int64]  # (n,) where a peer's stretch begins
    size: NDArray[np.int32]  # (n,) neighbours in it
    room: NDArray[np.int32]  # (n,) places in it
    forgot: NDArray[np.int32]  # (n,) the last cycle in which a neighbour was removed
    shadow: NDArray[np.uint64]  # (n, 2, WORDS), see sub2sub.shadow
    top: NDArray[np.int64]  # (1,) first place of the pool never used
    peer: NDArray[np.int32]  # (places,)
    stamp: NDArray[np.int32]  # cycle in which the neighbour itself was last heard from, by anybody
    met: NDArray[np.int32]  # cycle of the last exchange with it, -1 for none
    since: NDArray[np.int32]  # cycle in which it was taken up
    side: NDArray[np.uint8]  # successor, predecessor or both, and for which of them the witness is
    witness: NDArray[np.float64]  # (places, d)


PLACES = ("peer", "stamp", "met", "since", "side", "witness")


def empty_pool(n: int, d: int) -> RingPool:
    """Views without neighbours, and a pool to begin with."""
    places = SMALLEST * n + 4096
    row = np.zeros
    return RingPool(
        row(n, np.int64), row(n, np.int32), row(n, np.int32), np.full(n, -1, np.int32),
        row((n, 2, WORDS), np.uint64), row(1, np.int64),
        row(places, np.int32), row(places, np.int32), row(places, np.int32), row(places, np.int32),
        row(places, np.uint8), row((places, d), np.float64),
    )  # fmt: skip


@rule
def fits(pool, size):
    """Whether a view may grow to `size` without the pool running out."""
    return pool.top[0] + size + (size >> 1) + SMALLEST < pool.peer.shape[0]


@rule
def stretch(pool, t, size):
    """Give t a stretch with room for `size` neighbours; what stood in the old one is lost."""
    if size > pool.room[t]:
        room = max(np.int64(SMALLEST), size, np.int64(pool.room[t]) + (pool.room[t] >> 1))
        pool.start[t], pool.room[t] = pool.top[0], room
        pool.top[0] += room
    pool.size[t] = size


@hot
def _move(old_start, new_start, size, old, new):
    for t in range(size.shape[0]):
        for k in range(size[t]):
            new[new_start[t] + k] = old[old_start[t] + k]


def repack(pool: RingPool, spare: int) -> RingPool:
    """Lay the views out one after the other in a pool with so many places to spare.

    One array after the other, so that no more than one of them stands in memory twice.
    """
    room = pool.room.astype(np.int64)
    places = int(room.sum()) + spare
    start = np.cumsum(room) - room
    arrays: dict[str, Any] = pool._asdict()
    old_start, size = pool.start, pool.size
    del pool
    for name in PLACES:
        old = arrays.pop(name)
        columns = 1 if old.ndim == 1 else old.shape[1]
        new = np.empty((places, columns), old.dtype)
        old = old.reshape(-1, columns)
        for column in range(columns):
            _move(old_start, start, size, old[:, column], new[:, column])
        arrays[name] = new[:, 0] if name != "witness" else new
    return RingPool(**{**arrays, "start": start, "top": np.array([places - spare])})
