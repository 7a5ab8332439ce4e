"""A ring view on the desk: kept exactly as Figure 3 of Sub-2-Sub (004) would select it.

A peer's view is taken from the pool onto a desk, with the boxes of its neighbours beside it, brought up to
date, and put back. It is brought up to date one candidate at a time, with the result that selecting anew from
everything ever seen would have: select(A + {x}) = select(select(A) + {x}). Peers are numbered in the order of
their sequence IDs, so that the way up the ring from t to a neighbour is a difference of numbers; the desk is
sorted by it: successors are nearest first from the front, predecessors from the back.

- `offer`: a candidate is taken as successor if its part of the box is not covered by nearer successors,
  likewise as predecessor. Then farther ones may have become superfluous; each remembers a *witness*, a point
  only it is nearest to, and is asked again only if the newcomer contains that point.
- `remove`: neighbours hidden so far may be needed again; what was remembered as covered is forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.boxlanes import touch
from sub2sub.compilation import hot, rule
from sub2sub.cover import clip, covered, stack_for
from sub2sub.lanes import ATTRIBUTES, first_bit, padded
from sub2sub.ringpool import stretch
from sub2sub.shadow import ASKED, WORDS, cell_box, cells_of, hidden, learn, slab_table, unknown

__all__ = ["Desk", "find", "is_hidden", "new_desk", "offer", "put_back", "remove", "take_out"]

SUCCESSOR, PREDECESSOR = 1, 2
WITNESS = 2  # the bits that say for which side the witness is: those of the sides, two places up


class Desk(NamedTuple):
    """One peer's view, opened, and the scratch space to work on it."""

    count: NDArray[np.int64]  # (1,) neighbours on the desk
    way: NDArray[np.int32]  # (m,) way up the ring to each, ascending
    stamp: NDArray[np.int32]
    met: NDArray[np.int32]
    since: NDArray[np.int32]
    side: NDArray[np.uint8]
    witness: NDArray[np.float64]  # (m, d)
    box: NDArray[np.float64]  # (m, 2, width)
    chosen: NDArray[np.int64]  # (m,) which of them may cover
    part: NDArray[np.float64]  # (1, 2, width) what is to be covered
    point: NDArray[np.float64]  # (width,) a point of it that is not
    stack: NDArray[np.float64]
    used: NDArray[np.int64]  # (3,)
    table: NDArray[np.uint64]  # see sub2sub.shadow
    counts: NDArray[np.int64]  # asked, cuts, given up, taken, dropped


def new_desk(d: int, neighbours: int) -> Desk:
    """A desk for views of up to so many neighbours."""
    m, width = neighbours, padded(d, ATTRIBUTES)
    row = np.zeros
    return Desk(
        row(1, np.int64), row(m, np.int32), row(m, np.int32), row(m, np.int32), row(m, np.int32), row(m, np.uint8),
        row((m, d)), row((m, 2, width)), row(m, np.int64), row((1, 2, width)), row(width), stack_for(m, width),
        row(3, np.int64), slab_table(d), row(5, np.int64),
    )  # fmt: skip


@rule
def take_out(pool, boxes, t, desk):
    """Open t's view."""
    n, width = boxes.shape[0], boxes.shape[2]
    start, size = pool.start[t], np.int64(pool.size[t])
    for k in range(size):
        peer = np.int64(pool.peer[start + k])
        desk.way[k] = peer - t if peer > t else peer - t + n
        desk.stamp[k], desk.met[k] = pool.stamp[start + k], pool.met[start + k]
        desk.since[k], desk.side[k] = pool.since[start + k], pool.side[start + k]
        for a in range(pool.witness.shape[1]):
            desk.witness[k, a] = pool.witness[start + k, a]
        for a in range(width):
            desk.box[k, 0, a], desk.box[k, 1, a] = boxes[peer, 0, a], boxes[peer, 1, a]
    desk.count[0] = size


@rule
def put_back(pool, n, t, desk):
    """Store t's view; the pool must have space."""
    size = desk.count[0]
    stretch(pool, t, size)
    start = pool.start[t]
    for k in range(size):
        peer = t + desk.way[k]
        pool.peer[start + k] = peer if peer < n else peer - n
        pool.stamp[start + k], pool.met[start + k] = desk.stamp[k], desk.met[k]
        pool.since[start + k], pool.side[start + k] = desk.since[k], desk.side[k]
        for a in range(pool.witness.shape[1]):
            pool.witness[start + k, a] = desk.witness[k, a]


@rule
def find(desk, way):
    """First place on the desk that is not before `way` on the ring."""
    low, high = 0, desk.count[0]
    while low < high:
        middle = (low + high) >> 1
        if desk.way[middle] < way:
            low = middle + 1
        else:
            high = middle
    return low


@rule
def _part_covered(desk, place, side, max_steps):
    """Whether neighbours on one side, nearer than those from `place` on, cover `desk.part`.

    If not, `desk.point` is a witness.
    """
    width = desk.box.shape[2]
    row = 2 * width
    bit = np.uint8(side)
    count = 0
    first, last, step = 0, place, 1
    if side == PREDECESSOR:
        first, last, step = desk.count[0] - 1, place, -1
    for k in range(first, last, step):
        meets = touch(desk.box, k * row, desk.part, 0, width)
        for a in range(ATTRIBUTES, width, ATTRIBUTES):
            meets &= touch(desk.box, k * row + a, desk.part, a, width)
        desk.chosen[count] = k
        count += np.int64(meets and desk.side[k] & bit != 0)
    answer = covered(desk.part[0], desk.box, desk.chosen, count, width, desk.stack, max_steps, desk.point, desk.used)
    desk.counts[0] += 1
    desk.counts[1] += desk.used[2]
    if answer < 0:  # too hard: keep it, which costs a link and loses nothing, and say so
        desk.counts[2] += 1
        for a in range(width):
            desk.point[a] = desk.part[0, 0, a]
    return answer == 1


@rule
def _deepest(desk, side, n):
    """How far the neighbours reach that the last positive answer rested on."""
    if side == SUCCESSOR:
        return np.int64(desk.way[desk.used[1]])
    return n - np.int64(desk.way[desk.used[0]])


@rule
def is_hidden(shadow, boxes, t, x, d, table):
    """Whether the overlapping peer x is superfluous for t at a glance. Never true of a neighbour."""
    n = boxes.shape[0]
    touched, _ = cells_of(boxes[t], boxes[x], d, table)
    way = x - t if x > t else x - t + n
    return hidden(shadow[t, 0], touched, way, n) and hidden(shadow[t, 1], touched, n - way, n)


@hot
def _learn_cell(shadow, box, n, touched, depth, side, d, max_steps, desk):
    """Find out about one of the touched cells: next time this candidate's like may be seen through."""
    cells = unknown(shadow, touched, depth, n)
    if cells == np.uint64(0):
        return
    cell = first_bit(np.int64(cells))
    bit = np.uint64(1) << np.uint64(cell)
    shadow[ASKED] |= bit
    cell_box(box, cell, d, desk.table, desk.part[0])
    if _part_covered(desk, desk.count[0] if side == SUCCESSOR else -1, side, max_steps):
        learn(shadow, bit, _deepest(desk, side, n), n)


@rule
def _copy_place(desk, source, target):
    desk.way[target], desk.stamp[target], desk.met[target] = desk.way[source], desk.stamp[source], desk.met[source]
    desk.since[target], desk.side[target] = desk.since[source], desk.side[source]
    for a in range(desk.witness.shape[1]):
        desk.witness[target, a] = desk.witness[source, a]
    for a in range(desk.box.shape[2]):
        desk.box[target, 0, a], desk.box[target, 1, a] = desk.box[source, 0, a], desk.box[source, 1, a]


@rule
def _open_place(desk, place):
    for k in range(desk.count[0], place, -1):
        _copy_place(desk, k - 1, k)
    desk.count[0] += 1


@rule
def _close_place(desk, place):
    for k in range(place, desk.count[0] - 1):
        _copy_place(desk, k + 1, k)
    desk.count[0] -= 1


@hot
def offer(shadows, boxes, t, x, stamp, cycle, d, max_steps, desk):
    """Offer the overlapping peer x, not on the desk, to t, whose view is. Whether t took it."""
    n, width = boxes.shape[0], boxes.shape[2]
    way = x - t if x > t else x - t + n
    place = find(desk, way)
    touched, inside = cells_of(boxes[t], boxes[x], d, desk.table)
    sides = np.uint8(0)
    for side in (SUCCESSOR, PREDECESSOR):
        depth = way if side == SUCCESSOR else n - way
        shadow = shadows[t, side - 1]
        if hidden(shadow, touched, depth, n):
            continue
        clip(boxes[t], boxes[x], width, desk.part[0])
        # Once x is on the desk, as a successor, it stands before those that come before it on the way down.
        nearer = place if side == SUCCESSOR else place - np.int64(sides == 0)
        if _part_covered(desk, nearer, side, max_steps):
            learn(shadow, inside, _deepest(desk, side, n), n)
            _learn_cell(shadow, boxes[t], n, touched, depth, side, d, max_steps, desk)
            continue
        if sides == 0:
            _open_place(desk, place)
            for a in range(d):
                desk.witness[place, a] = desk.point[a]
            for a in range(width):
                desk.box[place, 0, a], desk.box[place, 1, a] = boxes[x, 0, a], boxes[x, 1, a]
            desk.way[place], desk.stamp[place], desk.met[place], desk.since[place] = way, stamp, -1, cycle
            desk.side[place] = 0
            sides = np.uint8(side << WITNESS)
        sides |= np.uint8(side)
    if sides == 0:
        return False
    desk.side[place] = sides
    desk.counts[3] += 1
    if sides & np.uint8(SUCCESSOR):
        shadows[t, 0, ASKED] = 0
        k = place + 1
        while k < desk.count[0]:
            k += _keep_or_drop(boxes[t], place, k, SUCCESSOR, d, max_steps, desk)
    if sides & np.uint8(PREDECESSOR):
        shadows[t, 1, ASKED] = 0
        for k in range(place - 1, -1, -1):
            place -= 1 - _keep_or_drop(boxes[t], place, k, PREDECESSOR, d, max_steps, desk)
    return True


@hot
def _keep_or_drop(box, newcomer, k, side, d, max_steps, desk):
    """Ask whether neighbour k is still needed on one side beside the newcomer. 1 kept, 0 dropped."""
    width = desk.box.shape[2]
    bit, witness_bit = np.uint8(side), np.uint8(side << WITNESS)
    if desk.side[k] & bit == 0:
        return 1
    if desk.side[k] & witness_bit:
        for a in range(d):
            if not (desk.box[newcomer, 0, a] <= desk.witness[k, a] < desk.box[newcomer, 1, a]):
                return 1
    clip(box, desk.box[k], width, desk.part[0])
    for a in range(d):
        if not (desk.box[newcomer, 0, a] < desk.part[0, 1, a] and desk.part[0, 0, a] < desk.box[newcomer, 1, a]):
            return 1
    if not _part_covered(desk, k, side, max_steps):
        if desk.side[k] & witness_bit or desk.side[k] & np.uint8(3 << WITNESS) == 0:
            desk.side[k] |= witness_bit
            for a in range(d):
                desk.witness[k, a] = desk.point[a]
        return 1
    desk.side[k] &= ~(bit | witness_bit)
    if desk.side[k] & np.uint8(SUCCESSOR | PREDECESSOR):
        return 1
    _close_place(desk, k)
    desk.counts[4] += 1
    return 0


@hot
def remove(shadows, forgot, boxes, t, place, cycle, d, max_steps, desk):
    """Remove the neighbour at `place` of the desk, and call on those it hid."""
    width = boxes.shape[2]
    sides = desk.side[place]
    _close_place(desk, place)
    forgot[t] = cycle
    for word in range(WORDS):
        shadows[t, 0, word], shadows[t, 1, word] = 0, 0
    # Nearest first, so that each is asked with all nearer ones already decided.
    for side in (SUCCESSOR, PREDECESSOR):
        bit = np.uint8(side)
        if sides & bit == 0:
            continue
        first, last, step = place, desk.count[0], 1
        if side == PREDECESSOR:
            first, last, step = place - 1, -1, -1
        for k in range(first, last, step):
            if desk.side[k] & bit == 0:
                clip(boxes[t], desk.box[k], width, desk.part[0])
                if not _part_covered(desk, k, side, max_steps):
                    desk.side[k] |= bit
