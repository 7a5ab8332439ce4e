"""A ring view that is updated one candidate at a time, and is always what Figure 3 of Sub-2-Sub selects.

The result equals a selection from all candidates so far: select(A + {x}) = select(select(A) + {x}). Peers are
numbered in the order of their sequence IDs, so the way up the ring from t to a neighbour is a difference of
numbers. For the test for cover, the successors and the predecessors of a peer are copied to two lists,
nearest first (`sub2sub.compiled.ring_views.scratch`). `sub2sub.peers.need` decides the same for one peer.

- `offer`: a candidate becomes a successor if nearer successors do not cover its part of the box, likewise a
  predecessor. Then farther neighbours may be superfluous. Each has a *witness*, a point for which it is the
  nearest, and is tested again only if the new neighbour contains that point.
- `remove`: neighbours that were hidden on one side may be needed there again; the shadow is cleared.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.common.rows import place_of_value
from sub2sub.compiled.machinery.compilation import apart, part, rule
from sub2sub.compiled.machinery.simd import first_bit
from sub2sub.compiled.ring.probes import is_there
from sub2sub.compiled.ring_views.cover import clip
from sub2sub.compiled.ring_views.pool import (
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
from sub2sub.compiled.ring_views.scratch import (
    DROPPED,
    POINT,
    TAKEN,
    WAY,
    ask_nearer,
    insert,
    lay_out,
    move_list,
    place_on_list,
    remove_witnesses,
)
from sub2sub.compiled.ring_views.shadow import (
    CELLS,
    UNKNOWN,
    cell_piece,
    deeper_cells,
    depth_code,
    frame_of,
    inside_cells,
    lower_cells,
)
from sub2sub.compiled.ring_views.tombstones import clear_tombstone, set_tombstone

UP, DOWN = np.int64(0), np.int64(1)  # the sides: successors, predecessors


@rule
def is_hidden(shadow, t, touched, up, n):
    """Whether the shadow shows a peer `up` the ring that touches these cells to be superfluous for t.

    Never true for a neighbour.
    """
    above, below = (
        deeper_cells(shadow, t, UP, depth_code(up)),
        deeper_cells(shadow, t, DOWN, depth_code(n - up)),
    )
    return touched & (above | below) == 0


@part
def _learn(pool, boxes, t, x, side, touched, way, depth, settings, scratch):
    """Lower the depths of cells, given that neighbours up to `depth` make x superfluous.

    Also test one more of the cells that x touches, so that similar candidates are rejected by the shadow; not
    in a cycle in which t has accepted a peer, because more may follow and would make another test necessary.
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
    """Place of x on t's list of one side, its witness in `scratch.witness`; -1 if it is covered."""
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
    """Insert x into t's view, not yet as successor or predecessor; return its place."""
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
    """Make the neighbour x at `place` a successor or predecessor: add it to list, witnesses and shadow."""
    insert(scratch, boxes, x, side, nearer, way)
    put_witness(pool, t, place, side, scratch.witness)
    pool.asked[t, side] = 0
    lower_cells(pool.shadow, t, side, inside_cells(boxes, x, scratch.frame), depth_code(way) + 1)
    remove_witnesses(scratch, boxes, x, side, nearer + 1)


@part
def offer(pool, boxes, t, x, touched, stamp, settings, scratch, probes):
    """Offer x, which overlaps and is no neighbour, to t, whose frame is in `scratch`; whether t accepts it.

    If it is needed, it has to answer a probe first, unless a peer heard from it in this cycle.
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
    """Write the part of t's box that the k-th entry of a list overlaps to the stack."""
    d, rows = scratch.witness.shape[0], scratch.lists[side]
    for a in range(d):
        low, high = rows[POINT + d + 2 * a, k], rows[POINT + d + 2 * a + 1, k]
        scratch.stack[0, 2 * a] = max(low, boxes[t, 0, a])
        scratch.stack[0, 2 * a + 1] = min(high, boxes[t, 1, a])


@apart
def drop_hidden(pool, boxes, t, side, settings, scratch):
    """Drop the neighbours whose witnesses were removed and that are no longer needed."""
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
def _restore_hidden(pool, boxes, t, side, first, settings, scratch):
    """Make neighbours from place `first` on successors, or predecessors, if they are needed there now.

    Nearest first, so that each is tested after all nearer ones.
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
    """Remove the neighbour at `place` of t's view; those that it hid may take its place."""
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
        _restore_hidden(pool, boxes, t, UP, place, settings, scratch)
    if was_predecessor:
        _restore_hidden(pool, boxes, t, DOWN, place - 1, settings, scratch)
