"""The memory of ring views: one pool for a population, with a block of words for each peer.

Ring views cannot be limited: a wide subscription needs hundreds of neighbours where most need a few dozen,
and with a limit some rings never become complete. Rows as wide as the widest view would waste most of the
memory. So a full view moves to a block an eighth larger at the end of the pool, and a full pool is compacted.

A block with room for r neighbours has r words of each of the fields below, one field after the other, so that
a peer's view is contiguous in memory. Neighbours are in the order of the ring, starting after their holder:
successors are nearest first from the front, predecessors from the back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES32, aligned
from sub2sub.compiled.common.rows import place_of_value, shift
from sub2sub.compiled.machinery.compilation import apart, hot, part, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.machinery.simd import bits, load, numbers, popcount, store, where
from sub2sub.compiled.ring_views.shadow import CELLS, UNKNOWN
from sub2sub.peers.ring import NEVER
from sub2sub.peers.verification import SPREAD

SMALLEST, STEP = 16, 4  # initial places of a view, and the least number by which it grows
# Initial places per peer: those allocated, as memory that is never written costs nothing, and those used
# before the pool is compacted.
USUAL, USED = 64, 40
MARGIN = LANES32  # words that vector operations may touch before and after a block
# As `np.int64`: numba would compile a function again for each plain number that it is called with.
PEER = np.int64(0)  # number of the neighbour
STAMP = np.int64(1)  # cycle in which any peer last heard from it
MET = np.int64(2)  # cycle of the last exchange with it, -1 for none
SINCE = np.int64(3)  # cycle in which it was accepted
# A hash table of peers that were tried (see `write_tried`): x if it was refused, or accepted and later found
# superfluous; ~x if it is a neighbour. Unless a neighbour is removed, offering x again changes nothing.
TRIED = np.int64(4)
SLOTS = 4  # slots of the table for each place; with fewer, more peers are overwritten and tried again
EMPTY = np.int64(-(2**31))
# Coordinates of a point for which it is the nearest successor, then of one for which it is the nearest
# predecessor; `NONE` if there is no such point.
WITNESS = TRIED + SLOTS
NONE = np.int64(-1)


@by_reference
class RingPool(NamedTuple):
    """The ring views of a population."""

    start: NDArray[np.int64]  # (n,) where a peer's block begins, 0 as long as it has none
    size: NDArray[np.int32]  # (n,) neighbours in it
    room: NDArray[np.int32]  # (n,) places in it
    last_removal: NDArray[np.int32]  # (n,) the last cycle in which a neighbour was removed
    shadow: NDArray[np.uint8]  # (n, 2, CELLS), see sub2sub.compiled.ring_views.shadow
    asked: NDArray[np.int64]  # (n, 2) cells whose depth was computed, as bits
    silent: NDArray[np.int32]  # (n, tombstones) peers that did not answer, -1 for none,
    silent_at: NDArray[np.int32]  # and in which cycle, see sub2sub.compiled.ring_views.tombstones
    top: NDArray[np.int64]  # (1,) the first unused word,
    end: NDArray[np.int64]  # (1,) and the first that must not be used
    words: NDArray[np.int32]

    @property
    def peer(self) -> NDArray[np.int32]:
        """The words, in which the neighbours of t begin at `start[t]`."""
        return self.words


def empty_pool(n: int, d: int, tombstones: int = 16) -> RingPool:
    """Views without neighbours, and an initial pool."""
    row = np.zeros
    words = np.empty(_fields(d) * (USUAL * n + 4096), np.int32)
    words[:MARGIN] = EMPTY
    return RingPool(
        row(n, np.int64), row(n, np.int32), row(n, np.int32), np.full(n, NEVER, np.int32),
        aligned((n, 2, CELLS), UNKNOWN, np.uint8), row((n, 2), np.int64),
        np.full((n, tombstones), -1, np.int32), row((n, tombstones), np.int32),
        np.full(1, MARGIN), np.full(1, _fields(d) * (USED * n + 4096) - MARGIN), words,
    )  # fmt: skip


@rule
def _fields(d):
    """Words for each neighbour."""
    return WITNESS + 2 * d


@rule
def _block_size(room, d):
    """Words of a block, with a margin after it: whole vectors are written."""
    return _fields(d) * room + MARGIN


@rule
def size_of(pool, t):
    """The number of neighbours of t."""
    return np.int64(pool.size[t])


@rule
def field(pool, t, which):
    """The word at which a field of t's view begins."""
    return pool.start[t] + which * np.int64(pool.room[t])


@rule
def get(pool, t, which, place):
    """A field of the neighbour at a place of t's view."""
    return np.int64(pool.words[field(pool, t, which) + place])


@rule
def put(pool, t, which, place, value):
    """Set a field of the neighbour at a place of t's view."""
    pool.words[field(pool, t, which) + place] = value


@rule
def witness_of(pool, t, place, side, d):
    """The first coordinate of a neighbour's witness on one side; negative if it has none there."""
    return get(pool, t, WITNESS + side * d, place)


@rule
def put_witness(pool, t, place, side, point):
    """Set a neighbour's witness on one side."""
    d = point.shape[0]
    for a in range(d):
        put(pool, t, WITNESS + side * d + a, place, point[a])


@rule
def place_of(pool, t, x):
    """Place of x in t's view, or -1."""
    return place_of_value(pool.words, field(pool, t, PEER), size_of(pool, t), x)


@rule
def way_up(t, x, n):
    """Steps up the ring from t to x, of n peers; 0 to itself."""
    return x - t if x >= t else x - t + n


@rule
def fits(pool, places, d):
    """Whether the pool has space for one view to grow to that many places."""
    return pool.top[0] + _fields(d) * (5 * places + 5 * SMALLEST) + 64 * MARGIN < pool.end[0]


@rule
def find(pool, t, way, n):
    """First place in t's view that is not before `way` on the ring."""
    peers, size, before = field(pool, t, PEER), size_of(pool, t), np.int64(0)
    for start in range(0, size, LANES32):
        ways = load(pool.words, peers + start) - np.int32(t)
        ways = where(ways < 0, ways + np.int32(n), ways)
        before += popcount(bits((ways < np.int32(way)) & (numbers(start) < size)))
    return before


@rule
def tried_slots(pool, t):
    """Number of slots of the table of peers that t has tried; it begins at `field(pool, t, TRIED)`."""
    return SLOTS * np.int64(pool.room[t])


@rule
def write_tried(pool, t, x, entry):
    """Remember that t has tried x; the entry is x or ~x, see `TRIED`."""
    slot = (((x * SPREAD) & 0xFFFFFFFF) * tried_slots(pool, t)) >> 32
    put(pool, t, TRIED, slot, entry)


@rule
def forget_all_tried(pool, t):
    """Forget the peers that t has tried."""
    for slot in range(tried_slots(pool, t)):
        put(pool, t, TRIED, slot, EMPTY)


@apart
def _grow_view(pool, t, d):
    """Move t to a block an eighth larger, or a little more; the pool has space."""
    old, old_room, new = pool.start[t], np.int64(pool.room[t]), pool.top[0]
    new_room = max(np.int64(SMALLEST), old_room + max(np.int64(STEP), old_room >> 3))
    pool.top[0] += _block_size(new_room, d)
    for which in range(_fields(d)):
        for place in range(pool.size[t]):
            pool.words[new + which * new_room + place] = pool.words[old + which * old_room + place]
    pool.start[t], pool.room[t] = new, new_room
    forget_all_tried(pool, t)
    for slot in range(SLOTS * old_room):
        x = np.int64(pool.words[old + TRIED * old_room + slot])
        if x != EMPTY:
            write_tried(pool, t, max(x, ~x), x)


@part
def _shift_view(pool, t, place, d, by):
    """Move the neighbours from `place` on by one place; the table of tried peers stays."""
    count = size_of(pool, t) - place
    for which in range(_fields(d)):
        if which < TRIED or which >= WITNESS:
            shift(pool.words, field(pool, t, which) + place, count, by)


@apart
def open_place(pool, t, place, d):
    """Make room for a neighbour at `place` of t's view; the pool has space."""
    if pool.size[t] == pool.room[t]:
        _grow_view(pool, t, d)
    _shift_view(pool, t, place, d, np.int64(1))
    pool.size[t] += 1


@apart
def close_place(pool, t, place, d):
    """Remove the neighbour at `place` from t's view."""
    _shift_view(pool, t, place + 1, d, np.int64(-1))
    pool.size[t] -= 1


@hot
def _close_gaps(pool, order, d):
    top = np.int64(MARGIN)
    for t in order:
        if pool.room[t] > 0:
            room = np.int64(pool.room[t])
            if pool.start[t] != top:
                for k in range(0, room * _fields(d), LANES32):
                    store(pool.words, top + k, load(pool.words, pool.start[t] + k))
            pool.start[t] = top
            top += _block_size(room, d)
    return top


def compact(pool: RingPool, d: int, spare: int) -> RingPool:
    """Compact the views, in place, and make sure that the pool has `spare` places left."""
    needed = _fields(d) * spare + 65 * MARGIN
    pool.top[0] = _close_gaps(pool, np.argsort(pool.start, kind="stable"), d)
    used = int(pool.top[0])
    words = pool.words
    if used + needed > words.size:
        words = np.empty(used + used // 2 + needed, np.int32)
        words[:used] = pool.words[:used]
        words[:MARGIN] = EMPTY
    soon = max(used + needed, min(_fields(d) * USED * pool.size.size, words.size)) - MARGIN
    return pool._replace(end=np.array([soon]), words=words)


@hot
def _forget_tried(pool, gone):
    for t in range(pool.start.shape[0]):
        for slot in range(tried_slots(pool, t)):
            x = get(pool, t, TRIED, slot)
            if x != EMPTY and (gone[t] or gone[max(x, ~x)]):
                put(pool, t, TRIED, slot, EMPTY)


def forget_tried(pool: RingPool, peers: NDArray[np.int64]) -> None:
    """Clear the tried peers of these peers, and these in other tables: subscriptions may have changed."""
    if pool.room.any():
        gone = np.zeros(pool.size.size, np.uint8)
        gone[peers] = 1
        _forget_tried(pool, gone)


def places_of(pool: RingPool, which: np.int64 = PEER) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All neighbours of all peers: their holders, and the words of one field."""
    sizes, begin = pool.size.astype(np.int64), pool.start + which * pool.room
    holders = np.repeat(np.arange(sizes.size), sizes)
    return holders, np.arange(holders.size) + np.repeat(begin - np.cumsum(sizes) + sizes, sizes)


def move_witnesses(pool: RingPool, d: int, moved: list[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> None:
    """Give the witnesses their new labels (see `sub2sub.compiled.ring_views.labels`)."""
    for side in range(2):
        first = WITNESS + side * d
        some = pool.words[places_of(pool, first)[1]] >= 0
        for k, (old, new) in enumerate(moved):
            places = places_of(pool, first + k)[1][some]
            pool.words[places] = new[np.searchsorted(old, pool.words[places])]
