"""Where ring views are kept: one pool for a population, a stretch of it for each peer.

Ring views cannot be capped: a wide subscription needs hundreds of neighbours where most need a few dozen, and
a cap leaves rings open for ever. Rows as wide as the widest view would fill the memory with nothing. So a
view that is full moves to a stretch half as large again at the end of the pool, and a pool that is full is
pushed together.

A stretch with room for r neighbours holds r words of each of the fields below, one field after the other,
so that a peer's view is in one place of the memory. Neighbours stand in the order of the ring, starting
after their holder: successors are nearest first from the front, predecessors from the back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import apart, hot, rule
from sub2sub.kernels.simd.links import aligned
from sub2sub.kernels.simd.offers import SPREAD
from sub2sub.kernels.simd.ring import shift
from sub2sub.kernels.simd.vectors import LANES
from sub2sub.ring.shadow import CELLS, UNKNOWN

__all__ = ["EMPTY", "MET", "PEER", "SINCE", "SLOTS", "STAMP", "TRIED", "WITNESS", "RingPool",
           "close_place", "empty_pool", "find", "fits", "forget_tried", "move_witnesses", "open_place",
           "places_of", "squeeze", "tried_at"]  # fmt: skip

SMALLEST = 16
USUAL = 64  # places a peer to begin with; memory never written to costs nothing
MARGIN = LANES  # a chunk of words may begin a little before a stretch or end after it
PEER = 0  # number of the neighbour
STAMP = 1  # cycle in which it was last heard from itself, by anybody
MET = 2  # cycle of the last exchange with it, -1 for none
SINCE = 3  # cycle in which it was taken up
# Peers tried before, each in the slot that its number gives (see `tried_at`): x if it was refused, or was
# taken up and found superfluous later, ~x if it is a neighbour. As long as nothing is removed, offering one
# of them again changes nothing.
TRIED = 4
SLOTS = 4  # for each place; with fewer, more are forgotten and asked for again
EMPTY = -(2**31)
# A point of each attribute that only it is nearest to among the successors, then among the predecessors;
# -1 if it is none.
WITNESS = TRIED + SLOTS


class RingPool(NamedTuple):
    """The ring views of a population."""

    start: NDArray[np.int64]  # (n,) where a peer's stretch begins, 0 as long as it has none
    size: NDArray[np.int32]  # (n,) neighbours in it
    room: NDArray[np.int32]  # (n,) places in it
    forgot: NDArray[np.int32]  # (n,) the last cycle in which a neighbour was removed
    shadow: NDArray[np.uint8]  # (n, 2, CELLS), see sub2sub.ring.shadow
    asked: NDArray[np.int64]  # (n, 2) cells asked for
    top: NDArray[np.int64]  # (1,) first word never used
    words: NDArray[np.int32]

    @property
    def peer(self) -> NDArray[np.int32]:
        """The words, in which the neighbours of t stand from `start[t]` on."""
        return self.words


def empty_pool(n: int, d: int) -> RingPool:
    """Views without neighbours, and a pool to begin with."""
    row = np.zeros
    words = np.empty((WITNESS + 2 * d) * (USUAL * n + 4096), np.int32)
    words[:MARGIN] = EMPTY
    return RingPool(
        row(n, np.int64), row(n, np.int32), row(n, np.int32), np.full(n, -1, np.int32),
        aligned((n, 2, CELLS), UNKNOWN, np.uint8), row((n, 2), np.int64), np.full(1, MARGIN),
        words,
    )  # fmt: skip


@rule
def fits(pool, places, d):
    """Whether one view may grow to so many places without the pool running out."""
    return pool.top[0] + (WITNESS + 2 * d) * (5 * places + 5 * SMALLEST) < pool.words.shape[0]


@rule
def find(pool, t, way, n):
    """First place in t's view that is not before `way` on the ring."""
    start = pool.start[t]
    low, high = np.int64(0), np.int64(pool.size[t])
    while low < high:
        middle = (low + high) >> 1
        up = np.int64(pool.words[start + middle]) - t
        if up < 0:
            up += n
        if up < way:
            low = middle + 1
        else:
            high = middle
    return low


@rule
def tried_at(start, room, t, x):
    """The slot in which it stands that t has tried x, if it does."""
    slots = SLOTS * np.int64(room[t])
    return start[t] + TRIED * np.int64(room[t]) + ((((x * SPREAD) & 0xFFFFFFFF) * slots) >> 32)


@apart
def _move_house(start, size, room, top, words, t, fields):
    """Give t a stretch half as large again; the pool has space."""
    old, old_room, new = start[t], np.int64(room[t]), top[0]
    new_room = max(np.int64(SMALLEST), old_room + (old_room >> 1))
    top[0] += fields * new_room
    for field in range(fields):
        for k in range(size[t]):
            words[new + field * new_room + k] = words[old + field * old_room + k]
    start[t], room[t] = new, new_room
    for k in range(SLOTS * new_room):
        words[new + TRIED * new_room + k] = EMPTY
    for k in range(SLOTS * old_room):
        x = words[old + TRIED * old_room + k]
        if x != EMPTY:
            words[tried_at(start, room, t, np.int64(max(x, ~x)))] = x


@rule
def _shift_view(start, size, room, words, t, place, fields, by):
    """Move the neighbours from `place` on by one place; what was tried stays where it is."""
    wide, count = np.int64(room[t]), np.int64(size[t]) - place
    shift(words, start[t] + place, wide, TRIED, count, by)
    shift(words, start[t] + WITNESS * wide + place, wide, fields - WITNESS, count, by)


@apart
def open_place(start, size, room, top, words, t, place, fields):
    """Make way for a neighbour at `place` of t's view; the pool has space."""
    if size[t] == room[t]:
        _move_house(start, size, room, top, words, t, fields)
    _shift_view(start, size, room, words, t, place, fields, np.int64(1))
    size[t] += 1


@apart
def close_place(start, size, room, words, t, place, fields):
    """Take the neighbour at `place` out of t's view."""
    _shift_view(start, size, room, words, t, place + 1, fields, np.int64(-1))
    size[t] -= 1


@hot
def _push_together(start, room, words, order, fields):
    top = np.int64(MARGIN)
    for t in order:
        count = np.int64(room[t]) * fields
        if count > 0:
            for k in range(count):
                words[top + k] = words[start[t] + k]
            start[t] = top
            top += count
    return top


def squeeze(pool: RingPool, d: int, spare: int) -> RingPool:
    """Push the views together, in place, and see to it that the pool has so many places to spare."""
    fields = WITNESS + 2 * d
    pool.top[0] = _push_together(
        pool.start, pool.room, pool.words, np.argsort(pool.start, kind="stable"), fields
    )
    used = int(pool.top[0])
    if used + fields * spare + MARGIN <= pool.words.size:
        return pool
    words = np.empty(used + used // 2 + fields * spare + MARGIN, np.int32)
    words[:used] = pool.words[:used]
    words[:MARGIN] = EMPTY
    return pool._replace(words=words)


@hot
def _forget_tried(start, room, words, gone):
    for t in range(start.shape[0]):
        first = start[t] + TRIED * np.int64(room[t])
        for k in range(SLOTS * np.int64(room[t])):
            x = words[first + k]
            if x != EMPTY and (gone[t] or gone[max(x, ~x)]):
                words[first + k] = EMPTY


def forget_tried(pool: RingPool, peers: NDArray[np.int64]) -> None:
    """Forget who tried these peers, and whom they tried: their subscriptions may have changed."""
    gone = np.zeros(pool.size.size, np.uint8)
    gone[peers] = 1
    _forget_tried(pool.start, pool.room, pool.words, gone)


def places_of(pool: RingPool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All neighbours of all peers: who has them, and where in the words they stand."""
    sizes = pool.size.astype(np.int64)
    holders = np.repeat(np.arange(sizes.size), sizes)
    return holders, np.arange(holders.size) + np.repeat(pool.start - np.cumsum(sizes) + sizes, sizes)


def move_witnesses(pool: RingPool, d: int, moved: list[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> None:
    """Give the witnesses their new labels (see `sub2sub.geometry.labels`)."""
    holders, at = places_of(pool)
    room = pool.room[holders].astype(np.int64)
    for side in range(2):
        there = at + (WITNESS + side * d) * room
        some = pool.words[there] >= 0
        for k, (old, new) in enumerate(moved):
            places = there[some] + k * room[some]
            pool.words[places] = new[np.searchsorted(old, pool.words[places])]
