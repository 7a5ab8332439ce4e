"""A ring view kept exactly as Figure 3 of Sub-2-Sub would select it, one candidate at a time.

The result is what selecting anew from everything ever seen would give: select(A + {x}) =
select(select(A) + {x}). Peers are numbered in the order of their sequence IDs, so that the way up the ring
from t to a neighbour is a difference of numbers. To ask for cover, the successors and the predecessors of a
peer are laid out on a desk: two lists, nearest first, with the boxes in columns.

- `offer`: a candidate is taken as successor if its part of the box is not covered by nearer successors,
  likewise as predecessor. Then farther ones may have become superfluous; each has a *witness*, a point only
  it is nearest to, and is asked again only if the newcomer contains that point.
- `remove`: neighbours hidden so far may be needed again; what was remembered as covered is forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.geometry.cover import ask, clip, heap_for, stack_for
from sub2sub.kernels.compilation import apart, rule
from sub2sub.kernels.simd.boxes import strike_points
from sub2sub.kernels.simd.cells import deeper_cells, lower_cells
from sub2sub.kernels.simd.links import first_bit, padded
from sub2sub.kernels.simd.ring import lay_out_lanes, place_of, shift
from sub2sub.kernels.simd.vectors import LANES
from sub2sub.ring.pool import (
    EMPTY,
    MET,
    PEER,
    SINCE,
    SLOTS,
    STAMP,
    TRIED,
    WITNESS,
    close_place,
    find,
    open_place,
    tried_at,
)
from sub2sub.ring.shadow import (
    CELLS,
    UNKNOWN,
    Frame,
    cell_piece,
    depth_code,
    frame_of,
    inside_cells,
    new_frame,
)

__all__ = ["Desk", "drop_hidden", "is_hidden", "lay_out", "new_desk", "offer", "remove"]

WAY = 0  # rows of a list: the way to each neighbour, its witness, its box
POINT = 1
ASKED, CUTS, GIVEN_UP, TAKEN, DROPPED = range(5)


class Desk(NamedTuple):
    """The lists of one peer, and the scratch space to work on them."""

    holder: NDArray[np.int64]  # (2,) whose lists these are, -1 for nobody's
    sizes: NDArray[np.int64]  # (2,)
    struck: NDArray[np.int64]  # (2,) whether witnesses are struck out
    lists: NDArray[np.int32]  # (2, 1 + 3d, places) successors, predecessors
    heap: NDArray[np.int32]
    stack: NDArray[np.int32]
    point: NDArray[np.int32]  # (d,) a point that is not covered
    counts: NDArray[np.int64]  # asked, cuts, given up, taken, dropped
    known: NDArray[np.int64]  # (1,) offers passed over because they are neighbours
    frame: Frame


def new_desk(d: int, neighbours: int) -> Desk:
    """A desk for views of up to so many neighbours."""
    places, rows = padded(neighbours, LANES), 1 + 3 * d
    # A chunk may begin anywhere in a row, and end after the last.
    lists = np.zeros(2 * rows * places + LANES, np.int32)[:-LANES].reshape(2, rows, places)
    pair = np.zeros((3, 2), np.int64)
    return Desk(
        pair[0] - 1, pair[1], pair[2], lists, heap_for(places, d), stack_for(places, d),
        np.zeros(d, np.int32), np.zeros(5, np.int64), np.zeros(1, np.int64), new_frame(d),
    )  # fmt: skip


@apart
def lay_out(start, size, room, words, boxes, t, side, d, desk):
    """Lay out the list of t on one side."""
    witness = (WITNESS + side * d) * np.int64(room[t])
    desk.sizes[side] = lay_out_lanes(
        words, start[t], np.int64(size[t]), np.int64(room[t]), witness, boxes, t, d, desk.lists, side
    )
    desk.holder[side] = t


@rule
def is_hidden(shadow, t, touched, up, n):
    """Whether a peer `up` the ring that touches these cells is superfluous for t at a glance.

    Never true of a neighbour.
    """
    row = t * 2 * CELLS
    visible = deeper_cells(shadow, row, depth_code(up)) | deeper_cells(
        shadow, row + CELLS, depth_code(n - up)
    )
    return touched & visible == 0


@rule
def _place_in(target, size, way):
    """First place of a list that is not before `way`."""
    low, high = np.int64(0), size
    while low < high:
        middle = (low + high) >> 1
        if target[WAY, middle] < way:
            low = middle + 1
        else:
            high = middle
    return low


@rule
def _move(desk, side, place, by):
    """Move what stands on a list from `place` on by one place, up or down."""
    rows, places = desk.lists.shape[1], desk.lists.shape[2]
    shift(desk.lists, side * rows * places + place, places, rows, desk.sizes[side] - place, by)
    desk.sizes[side] += by


@rule
def _insert(boxes, x, side, place, way, d, desk):
    """Put x on a list, with `desk.point` as its witness."""
    _move(desk, side, place, np.int64(1))
    target = desk.lists[side]
    target[WAY, place] = way
    for a in range(d):
        target[POINT + a, place] = desk.point[a]
        target[POINT + d + 2 * a, place], target[POINT + d + 2 * a + 1, place] = (
            boxes[x, 0, a],
            boxes[x, 1, a],
        )


@rule
def _learn(shadow, asked, boxes, t, x, side, touched, depth, way, d, max_steps, desk):
    """x was found superfluous because of neighbours up to `depth`: so are others in the same cells.

    And find out about one more of the cells that it touches: next time its like may be seen through.
    """
    row = (2 * t + side) * CELLS
    lower_cells(shadow, row, inside_cells(boxes, x, desk.frame), depth_code(depth) + 1)
    unknown = touched & deeper_cells(shadow, row, depth_code(way)) & ~asked[t, side]
    if unknown == 0:
        return
    cell = first_bit(unknown)
    asked[t, side] |= np.int64(1) << cell
    target = desk.lists[side]
    cell_piece(desk.frame, cell, d, desk.stack[0])
    enough = ask(
        target, POINT + d, desk.sizes[side], d, desk.heap, desk.stack, max_steps, desk.point, desk.counts
    )
    if enough > 0:
        lower_cells(shadow, row, np.int64(1) << cell, depth_code(np.int64(target[WAY, enough - 1])) + 1)


@rule
def offer(pool, boxes, t, x, touched, stamp, cycle, d, max_steps, desk):
    """Offer x, which overlaps and is no neighbour, to t, whose frame is on the desk; whether t took it."""
    n, fields = boxes.shape[0], WITNESS + 2 * d
    up = x - t if x > t else x - t + n
    place = np.int64(-1)
    for side in range(2):
        way = up if side == 0 else n - up
        if touched & deeper_cells(pool.shadow, (2 * t + side) * CELLS, depth_code(way)) == 0:
            continue
        if desk.holder[side] != t:
            lay_out(pool.start, pool.size, pool.room, pool.words, boxes, t, side, d, desk)
        clip(boxes[t], boxes[x], d, desk.stack[0])
        target = desk.lists[side]
        nearer = _place_in(target, desk.sizes[side], way)
        enough = ask(target, POINT + d, nearer, d, desk.heap, desk.stack, max_steps, desk.point, desk.counts)
        if enough > 0:
            depth = np.int64(target[WAY, enough - 1])
            _learn(pool.shadow, pool.asked, boxes, t, x, side, touched, depth, way, d, max_steps, desk)
            continue
        if place < 0:
            place = find(pool, t, up, n)
            open_place(pool.start, pool.size, pool.room, pool.top, pool.words, t, place, fields)
            start, room = pool.start[t], np.int64(pool.room[t])
            pool.words[start + PEER * room + place], pool.words[start + STAMP * room + place] = x, stamp
            pool.words[start + MET * room + place], pool.words[start + SINCE * room + place] = -1, cycle
            pool.words[start + (WITNESS + (1 - side) * d) * room + place] = -1
            pool.words[tried_at(pool.start, pool.room, t, x)] = ~x
            desk.counts[TAKEN] += 1
        _insert(boxes, x, side, nearer, way, d, desk)
        at = pool.start[t] + (WITNESS + side * d) * np.int64(pool.room[t]) + place
        for a in range(d):
            pool.words[at + a * pool.room[t]] = desk.point[a]
        pool.asked[t, side] = 0
        lower_cells(
            pool.shadow, (2 * t + side) * CELLS, inside_cells(boxes, x, desk.frame), depth_code(way) + 1
        )
        desk.struck[side] |= strike_points(target, POINT, nearer + 1, desk.sizes[side], boxes, x, d)
    if place < 0 and pool.room[t] > 0:
        pool.words[tried_at(pool.start, pool.room, t, x)] = x
    return place >= 0


@apart
def drop_hidden(pool, boxes, t, side, d, max_steps, desk):
    """Drop the neighbours that are no longer needed, of those whose witnesses were struck out."""
    n, fields = boxes.shape[0], WITNESS + 2 * d
    target, k = desk.lists[side], np.int64(0)
    row = (side * desk.lists.shape[1] + POINT) * desk.lists.shape[2]
    while True:
        step = place_of(desk.lists, row + k, desk.sizes[side] - k, -1)
        if step < 0:
            return
        k += step
        for a in range(d):
            low, high = target[POINT + d + 2 * a, k], target[POINT + d + 2 * a + 1, k]
            desk.stack[0, 2 * a], desk.stack[0, 2 * a + 1] = (
                max(low, boxes[t, 0, a]),
                min(high, boxes[t, 1, a]),
            )
        way = np.int64(target[WAY, k])
        x = t + way if side == 0 else t - way
        x += n if x < 0 else (-n if x >= n else 0)
        room = np.int64(pool.room[t])
        place = place_of(pool.words, pool.start[t], np.int64(pool.size[t]), x)
        at = pool.start[t] + (WITNESS + side * d) * room + place
        other = pool.start[t] + (WITNESS + (1 - side) * d) * room + place
        if ask(target, POINT + d, k, d, desk.heap, desk.stack, max_steps, desk.point, desk.counts) == 0:
            for a in range(d):
                target[POINT + a, k] = desk.point[a]
                pool.words[at + a * room] = desk.point[a]
            k += 1
            continue
        _move(desk, side, k + 1, np.int64(-1))
        pool.words[at] = -1
        if pool.words[other] < 0:
            close_place(pool.start, pool.size, pool.room, pool.words, t, place, fields)
            pool.words[tried_at(pool.start, pool.room, t, x)] = x
            desk.counts[DROPPED] += 1


@apart
def remove(pool, boxes, t, place, cycle, d, max_steps, desk):
    """Remove the neighbour at `place` of t's view, and call on those it hid."""
    n, fields = boxes.shape[0], WITNESS + 2 * d
    start, room = pool.start[t], np.int64(pool.room[t])
    was = (
        pool.words[start + WITNESS * room + place] >= 0,
        pool.words[start + (WITNESS + d) * room + place] >= 0,
    )
    close_place(pool.start, pool.size, pool.room, pool.words, t, place, fields)
    pool.forgot[t] = cycle
    for k in range(SLOTS * room):
        pool.words[start + TRIED * room + k] = EMPTY
    for side in range(2):
        lay_out(pool.start, pool.size, pool.room, pool.words, boxes, t, side, d, desk)
        pool.asked[t, side] = 0
        for cell in range(CELLS):
            pool.shadow[t, side, cell] = UNKNOWN
    frame_of(boxes, pool.shadow, t, desk.frame)
    # Nearest first, so that each is asked with all nearer ones already decided.
    for side in range(2):
        if not was[side]:
            continue
        first, last, step = place, np.int64(pool.size[t]), 1
        if side == 1:
            first, last, step = place - 1, np.int64(-1), -1
        witness = start + (WITNESS + side * d) * room
        for k in range(first, last, step):
            if pool.words[witness + k] >= 0:
                continue
            x = np.int64(pool.words[start + k])
            up = x - t if x > t else x - t + n
            way = up if side == 0 else n - up
            clip(boxes[t], boxes[x], d, desk.stack[0])
            target = desk.lists[side]
            nearer = _place_in(target, desk.sizes[side], way)
            if (
                ask(target, POINT + d, nearer, d, desk.heap, desk.stack, max_steps, desk.point, desk.counts)
                == 0
            ):
                _insert(boxes, x, side, nearer, way, d, desk)
                for a in range(d):
                    pool.words[witness + a * room + k] = desk.point[a]
