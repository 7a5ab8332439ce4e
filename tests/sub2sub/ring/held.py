"""The ring views of the kernels, in the form of the views of `RingPeer` objects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.ring.layer import Ring
from sub2sub.compiled.ring_views.pool import MET, PEER, SINCE, STAMP


def held_by(layer: Ring) -> list[list[tuple[int, int, int, int]]]:
    """The neighbours of all peers in the order of the ring: number, stamp, met, since."""
    pool = layer.pool

    def words(t: int, name: int) -> NDArray[np.int32]:
        start = pool.start[t] + name * np.int64(pool.room[t])
        return pool.words[start : start + pool.size[t]]

    fields = (PEER, STAMP, MET, SINCE)
    return [
        [tuple(row) for row in np.stack([words(t, name) for name in fields], axis=1).tolist()]
        for t in range(pool.size.size)
    ]


def make_older(layer: Ring, holder: int, peer: int, stamp: int) -> None:
    """Lower the stamp of a ring link, if there is one and it is higher."""
    pool = layer.pool
    first = int(pool.start[holder])
    for place in range(pool.size[holder]):
        if pool.words[first + PEER * int(pool.room[holder]) + place] == peer:
            at = first + STAMP * int(pool.room[holder]) + place
            pool.words[at] = min(int(pool.words[at]), stamp)
