"""A ring view kept exactly as Figure 3 of Sub-2-Sub would select it, one candidate at a time.

The result is what selecting anew from everything ever seen would give: select(A + {x}) =
select(select(A) + {x}). Peers are numbered in the order of their sequence IDs, so that the way up the ring
from t to a neighbour is a difference of numbers. To ask for cover, the successors and the predecessors of a
peer are laid out as two lists, nearest first (`sub2sub.ring.scratch`).

- `offer`: a candidate is taken as successor if its part of the box is not covered by nearer successors,
  likewise as predecessor. Then farther ones may have become superfluous; each has a *witness*, a point only
  it is nearest to, and is asked again only if the newcomer contains that point.
- `remove`: neighbours hidden so far may be needed again; what was remembered as covered is forgotten.
"""

from __future__ import annotations

import numpy as np

from sub2sub.geometry.cover import clip
from sub2sub.kernels.compilation import apart, part, rule
from sub2sub.kernels.rows import place_of_value
from sub2sub.kernels.simd import first_bit
from sub2sub.ring.pool import (
    MET,
    NONE,
    PEER,
    SINCE,
    STAMP,
    WITNESS,
    close_place,
    field,
    find,
    forget_all_tried,
    get,
    open_place,
    place_of,
    put,
    put_witness,
    size_of,
    way_up,
    witness_of,
    write_tried,
)
from sub2sub.ring.probes import is_there
from sub2sub.ring.scratch import (
    DROPPED,
    POINT,
    TAKEN,
    WAY,
    ask_nearer,
    insert,
    lay_out,
    move_list,
    place_on_list,
    strike_witnesses,
)
from sub2sub.ring.shadow import (
    CELLS,
    UNKNOWN,
    cell_piece,
    deeper_cells,
    depth_code,
    frame_of,
    inside_cells,
    lower_cells,
)
from sub2sub.ring.tombstones import clear_tombstone, set_tombstone

UP, DOWN = np.int64(0), np.int64(1)  # the sides: successors, predecessors


@rule
def is_hidden(shadow, t, touched, up, n):
    """Whether a peer `up` the ring that touches these cells is superfluous for t at a glance.

    Never true of a neighbour.
    """
    above, below = (
        deeper_cells(shadow, t, UP, depth_code(up)),
        deeper_cells(shadow, t, DOWN, depth_code(n - up)),
    )
    return touched & (above | below) == 0


@part
def _learn(pool, boxes, t, x, side, touched, way, depth, settings, scratch):
    """x was found superfluous because of neighbours up to `depth`: so are others in the same cells.

    And find out about one more of the cells that it touches: next time its like may be seen through. Not in a
    cycle in which t has accepted somebody: there may be more to come, and then it has to be found out again.
    """
    lower_cells(pool.shadow, t, side, inside_cells(boxes, x, scratch.frame), depth_code(depth) + 1)
    if place_of_value(pool.words, field(pool, t, SINCE), size_of(pool, t), settings.cycle) >= 0:
        return
    unknown = touched & deeper_cells(pool.shadow, t, side, depth_code(way)) & ~pool.asked[t, side]
    if unknown == 0:
        return
    cell = first_bit(unknown)
    pool.asked[t, side] |= np.int64(1) << cell
    cell_piece(scratch.frame, cell, scratch.witness.shape[0], scratch.stack[0])
    enough = ask_nearer(scratch, side, scratch.sizes[side], settings.max_steps)
    if enough > 0:
        farthest = np.int64(scratch.lists[side, WAY, enough - 1])
        lower_cells(pool.shadow, t, side, np.int64(1) << cell, depth_code(farthest) + 1)


@part
def _place_if_needed(pool, boxes, t, x, side, touched, way, settings, scratch):
    """Where on t's list of one side x belongs, and its witness in `scratch.witness`; -1 if it is covered."""
    if touched & deeper_cells(pool.shadow, t, side, depth_code(way)) == 0:
        return np.int64(-1)
    if scratch.holder[side] != t:
        lay_out(pool, boxes, t, side, scratch)
    clip(boxes[t], boxes[x], scratch.witness.shape[0], scratch.stack[0])
    nearer = place_on_list(scratch, side, way)
    enough = ask_nearer(scratch, side, nearer, settings.max_steps)
    if enough == 0:
        return nearer
    depth = np.int64(scratch.lists[side, WAY, enough - 1])
    _learn(pool, boxes, t, x, side, touched, way, depth, settings, scratch)
    return np.int64(-1)


@part
def _accept(pool, t, x, up, n, stamp, cycle, d):
    """Put x into t's view, a neighbour on neither side yet; its place."""
    place = find(pool, t, up, n)
    open_place(pool, t, place, d)
    put(pool, t, PEER, place, x)
    put(pool, t, STAMP, place, stamp)
    put(pool, t, MET, place, NONE)
    put(pool, t, SINCE, place, cycle)
    put(pool, t, WITNESS, place, NONE)
    put(pool, t, WITNESS + d, place, NONE)
    write_tried(pool, t, x, ~x)
    return place


@part
def _add_on_side(pool, boxes, t, x, side, place, nearer, way, scratch):
    """Let the neighbour x at `place` count on one side: list, witness, and what it covers from now on."""
    insert(scratch, boxes, x, side, nearer, way)
    put_witness(pool, t, place, side, scratch.witness)
    pool.asked[t, side] = 0
    lower_cells(pool.shadow, t, side, inside_cells(boxes, x, scratch.frame), depth_code(way) + 1)
    strike_witnesses(scratch, boxes, x, side, nearer + 1)


@part
def offer(pool, boxes, t, x, touched, stamp, settings, scratch, probes):
    """Offer x, which overlaps and is no neighbour, to t, whose frame is in `scratch`; whether t took it.

    One that is needed has to answer first, unless it was heard from in this cycle.
    """
    n = boxes.shape[0]
    up = way_up(t, x, n)
    place = np.int64(-1)
    for side in range(2):
        way = up if side == UP else n - up
        nearer = _place_if_needed(pool, boxes, t, x, side, touched, way, settings, scratch)
        if nearer < 0:
            continue
        if place < 0:
            if settings.verify and stamp < settings.cycle:
                if not is_there(probes, t, x):
                    set_tombstone(pool, t, x, settings.cycle)
                    return False
                clear_tombstone(pool, t, x)
                stamp = settings.cycle
            place = _accept(pool, t, x, up, n, stamp, settings.cycle, scratch.witness.shape[0])
            scratch.counts[TAKEN] += 1
        _add_on_side(pool, boxes, t, x, side, place, nearer, way, scratch)
    if place < 0 and pool.room[t] > 0:
        write_tried(pool, t, x, x)
    return place >= 0


@part
def _clip_listed(boxes, t, side, k, scratch):
    """Put the part of t's box in which the k-th of a list lies on the stack."""
    d, rows = scratch.witness.shape[0], scratch.lists[side]
    for a in range(d):
        low, high = rows[POINT + d + 2 * a, k], rows[POINT + d + 2 * a + 1, k]
        scratch.stack[0, 2 * a] = max(low, boxes[t, 0, a])
        scratch.stack[0, 2 * a + 1] = min(high, boxes[t, 1, a])


@apart
def drop_hidden(pool, boxes, t, side, settings, scratch):
    """Drop the neighbours that are no longer needed, of those whose witnesses were struck out."""
    n, d, rows, k = boxes.shape[0], scratch.witness.shape[0], scratch.lists[side], np.int64(0)
    while True:
        step = place_of_value(rows[POINT], k, scratch.sizes[side] - k, NONE)
        if step < 0:
            return
        k += step
        way = np.int64(rows[WAY, k])
        x = (t + way if side == UP else t - way + n) % n
        place = place_of(pool, t, x)
        _clip_listed(boxes, t, side, k, scratch)
        if ask_nearer(scratch, side, k, settings.max_steps) == 0:
            for a in range(d):
                rows[POINT + a, k] = scratch.witness[a]
            put_witness(pool, t, place, side, scratch.witness)
            k += 1
            continue
        move_list(scratch, side, k + 1, np.int64(-1))
        put(pool, t, WITNESS + side * d, place, NONE)
        if witness_of(pool, t, place, 1 - side, d) < 0:
            close_place(pool, t, place, d)
            write_tried(pool, t, x, x)
            scratch.counts[DROPPED] += 1


@part
def _call_on_hidden(pool, boxes, t, side, first, settings, scratch):
    """Let neighbours from place `first` on, away from t, count on a side on which they are needed now.

    Nearest first, so that each is asked with all nearer ones already decided.
    """
    n, d = boxes.shape[0], scratch.witness.shape[0]
    last, step = (size_of(pool, t), 1) if side == UP else (NONE, -1)
    for place in range(first, last, step):
        if witness_of(pool, t, place, side, d) >= 0:
            continue
        x = get(pool, t, PEER, place)
        up = way_up(t, x, n)
        way = up if side == UP else n - up
        clip(boxes[t], boxes[x], d, scratch.stack[0])
        nearer = place_on_list(scratch, side, way)
        if ask_nearer(scratch, side, nearer, settings.max_steps) == 0:
            insert(scratch, boxes, x, side, nearer, way)
            put_witness(pool, t, place, side, scratch.witness)


@apart
def remove(pool, boxes, t, place, settings, scratch):
    """Remove the neighbour at `place` of t's view, and call on those it hid."""
    d = scratch.witness.shape[0]
    was_successor = witness_of(pool, t, place, UP, d) >= 0
    was_predecessor = witness_of(pool, t, place, DOWN, d) >= 0
    close_place(pool, t, place, d)
    pool.last_removal[t] = settings.cycle
    forget_all_tried(pool, t)
    for side in range(2):
        lay_out(pool, boxes, t, side, scratch)
        pool.asked[t, side] = 0
        for cell in range(CELLS):
            pool.shadow[t, side, cell] = UNKNOWN
    frame_of(boxes, pool.shadow, t, scratch.frame)
    if was_successor:
        _call_on_hidden(pool, boxes, t, UP, place, settings, scratch)
    if was_predecessor:
        _call_on_hidden(pool, boxes, t, DOWN, place - 1, settings, scratch)
