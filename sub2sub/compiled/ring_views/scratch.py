"""The successors and the predecessors of one peer in the form that the test for cover needs.

They are two lists, nearest first, with one column per neighbour: the way to it, its witness and its box (see
`sub2sub.compiled.ring_views.pieces` for boxes in columns). The test needs the neighbours of one side without
those of the other. So the lists of a peer are copied from the pool when they are first needed, and updated
together with it until the lists of another peer replace them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES32, padded
from sub2sub.compiled.common.rows import count_below, shift
from sub2sub.compiled.machinery.compilation import apart, part, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.machinery.simd import (
    backwards,
    bits,
    gather,
    load,
    numbers,
    pack,
    popcount,
    store,
    where,
)
from sub2sub.compiled.ring_views.cover import CoverSpace, ask, new_gathered, new_stack
from sub2sub.compiled.ring_views.pool import PEER, WITNESS, field, size_of
from sub2sub.compiled.ring_views.shadow import Frame, frame_of, new_frame

WAY = 0  # rows of a list: the way to each neighbour, its witness, its box
POINT = 1
ASKED, CUTS, GIVEN_UP, TAKEN, DROPPED = range(5)


@by_reference
class Scratch(NamedTuple):
    """The lists of one peer, and working memory."""

    holder: NDArray[np.int64]  # (2,) the peer of each list, -1 for none
    sizes: NDArray[np.int64]  # (2,) neighbours on each list
    struck: NDArray[np.int64]  # (2,) whether witnesses on a list were removed
    lists: NDArray[np.int32]  # (2, 1 + 3d, places) successors, predecessors
    gathered: NDArray[np.int32]
    stack: NDArray[np.int32]
    witness: NDArray[np.int32]  # (d,) a point that is not covered
    counts: NDArray[np.int64]  # asked, cuts, given up, taken, dropped
    offers: NDArray[np.int64]  # (5, places), see `sub2sub.compiled.ring.offers`
    known: NDArray[np.int64]  # (1,) candidates skipped because they are neighbours
    frame: Frame
    cover: CoverSpace  # the arrays of the same names


def new_scratch(d: int, neighbours: int) -> Scratch:
    """Working memory for views of at most that many neighbours."""
    places, rows = padded(neighbours, LANES32), 1 + 3 * d
    # A vector may begin anywhere in a row, and end after the last row.
    lists = np.zeros(2 * rows * places + LANES32, np.int32)[:-LANES32].reshape(2, rows, places)
    pair = np.zeros((3, 2), np.int64)
    cover = CoverSpace(
        new_gathered(places, d), new_stack(places, d), np.zeros(d, np.int32), np.zeros(5, np.int64)
    )
    return Scratch(
        pair[0] - 1, pair[1], pair[2], lists, *cover, np.empty((5, neighbours), np.int64),
        np.zeros(1, np.int64), new_frame(d), cover,
    )  # fmt: skip


@rule
def prepare(pool, boxes, t, scratch):
    """Clear the scratch space for t, and divide its box into cells."""
    scratch.holder[0], scratch.holder[1] = -1, -1
    scratch.known[0] = 0
    frame_of(boxes, pool.shadow, t, scratch.frame)


@rule
def _words(pool, at, side):
    """Sixteen words, in reverse order for predecessors."""
    return backwards(load(pool.words, at)) if side == 1 else load(pool.words, at)


@part
def _copy_side(pool, t, side, d, rows):
    """Copy peers and witnesses of the neighbours of t on one side, nearest first; return their number."""
    size, listed = size_of(pool, t), np.int64(0)
    peers, room = field(pool, t, PEER), np.int64(pool.room[t])
    witness = field(pool, t, WITNESS + side * d)
    for start in range(0, size, LANES32):
        place = size - start - LANES32 if side == 1 else start
        some = (_words(pool, witness + place, side) >= 0) & (numbers(start) < size)
        pack(rows[WAY], listed, _words(pool, peers + place, side), some)
        for a in range(d):
            pack(rows[POINT + a], listed, _words(pool, witness + a * room + place, side), some)
        listed += popcount(bits(some))
    return listed


@part
def _fill_in(boxes, t, side, d, rows, count):
    """Add the boxes of the peers in the first row, and replace these peers by the ways to them."""
    n, width = np.int32(boxes.shape[0]), boxes.shape[2]
    for start in range(0, count, LANES32):
        peers = where(numbers(start) < count, load(rows[WAY], start), 0)
        first = peers * np.int32(2 * width)
        for a in range(d):
            store(rows[POINT + d + 2 * a], start, gather(boxes, a, first))
            store(rows[POINT + d + 2 * a + 1], start, gather(boxes, width + a, first))
        ways = np.int32(t) - peers if side == 1 else peers - np.int32(t)
        store(rows[WAY], start, where(ways < 0, ways + n, ways))


@apart
def lay_out(pool, boxes, t, side, scratch):
    """Make the list of t on one side."""
    d = scratch.witness.shape[0]
    count = _copy_side(pool, t, side, d, scratch.lists[side])
    _fill_in(boxes, t, side, d, scratch.lists[side], count)
    scratch.sizes[side] = count
    scratch.holder[side] = t


@rule
def place_on_list(scratch, side, way):
    """First place of a list whose way is not less than `way`."""
    return count_below(scratch.lists[side, WAY], np.int64(0), scratch.sizes[side], np.int32(way))


@rule
def ask_nearer(scratch, side, count, max_steps):
    """Whether the piece on the stack is covered by the nearest `count` of a list, see `ask`."""
    d = scratch.witness.shape[0]
    return ask(scratch.lists[side], POINT + d, count, d, max_steps, scratch.cover)


@rule
def move_list(scratch, side, place, by):
    """Move the entries of a list from `place` on by one place, up or down."""
    for row in range(scratch.lists.shape[1]):
        shift(scratch.lists[side, row], place, scratch.sizes[side] - place, by)
    scratch.sizes[side] += by


@rule
def insert(scratch, boxes, x, side, place, way):
    """Insert x into a list, with `scratch.witness` as its witness."""
    d = scratch.witness.shape[0]
    move_list(scratch, side, place, np.int64(1))
    rows = scratch.lists[side]
    rows[WAY, place] = way
    for a in range(d):
        rows[POINT + a, place] = scratch.witness[a]
        rows[POINT + d + 2 * a, place] = boxes[x, 0, a]
        rows[POINT + d + 2 * a + 1, place] = boxes[x, 1, a]


@rule
def remove_witnesses(scratch, boxes, x, side, first):
    """Remove the witnesses from place `first` on that the box of x contains."""
    d, count, rows = scratch.witness.shape[0], scratch.sizes[side], scratch.lists[side]
    for start in range(first, count, LANES32):
        inside = numbers(start) < count
        for a in range(d):
            point = load(rows[POINT + a], start)
            inside &= (point >= boxes[x, 0, a]) & (point < boxes[x, 1, a])
        if bits(inside):
            store(rows[POINT], start, where(inside, np.int32(-1), load(rows[POINT], start)))
            scratch.struck[side] = 1
