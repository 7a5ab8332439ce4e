"""Pieces of boxes, and the boxes that touch, share and cut them: the inner loops of the cover test.

Boxes have integer coordinates (`sub2sub.compiled.ring_views.labels`) and stand in columns: row 2a of an array
(rows, places) holds the lows along attribute a, row 2a + 1 the highs, so that sixteen of them are compared
with a piece at once. A piece is one row (low, high, low, high, ...) of `piece_width(d)` numbers. The number
of places is a multiple of `LANES32`.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.common.memory import LANES32
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.simd import (
    as_floats,
    bits,
    greatest,
    in_all_lanes,
    item,
    load,
    loader,
    maximum,
    minimum,
    numbers,
    pack,
    popcount,
    positions,
    raw_bits,
    store,
    where,
)

FEW, MANY = 8, 32  # numbers of a piece of up to 4 and of up to 16 attributes
_UNIT = np.float32(2.0**-15)  # widths are of the order of 1 in this unit, so that volumes do not overflow
_PLACES = 1 << 16  # boxes that are told apart by the lower half of a number
_LAST = np.int32(_PLACES - 1)

_load_few, _load_many = loader(FEW), loader(MANY)


@rule
def piece_width(d):
    """Numbers of a piece of d attributes, those behind the 2d ends unused."""
    return FEW if 2 * d <= FEW else MANY


@rule
def gather_touching(boxes, row, count, piece, d, gathered):
    """Copy those of the first `count` boxes that touch a piece to `gathered`, their places in the last row.

    The boxes stand in rows `row` to `row + 2d - 1`; returns how many touch.
    """
    touching = np.int64(0)
    for start in range(0, count, LANES32):
        meet = numbers(start) < count
        for k in range(0, 2 * d, 2):
            meet &= (load(boxes[row + k], start) < piece[k + 1]) & (
                load(boxes[row + k + 1], start) > piece[k]
            )
        chosen = bits(meet)
        if chosen:
            for k in range(2 * d):
                pack(gathered[k], touching, load(boxes[row + k], start), meet)
            pack(gathered[2 * d], touching, numbers(start), meet)
            touching += popcount(chosen)
    return touching


@rule
def largest_share(boxes, row, count, piece, d):
    """Which of the first `count` boxes, in rows from `row` on, shares most with a piece; -1 if none does."""
    for base in range(0, count, _PLACES):  # once, for any view that fits into memory
        most = in_all_lanes(np.int32(-1))
        for start in range(base, min(count, base + _PLACES), LANES32):
            meet, share = numbers(start) < count, in_all_lanes(np.float32(1.0))
            for k in range(0, 2 * d, 2):
                low = maximum(load(boxes[row + k], start), piece[k])
                high = minimum(load(boxes[row + k + 1], start), piece[k + 1])
                meet &= low < high
                share *= as_floats(high - low) * _UNIT
            # The bits of floats are in the order of the floats; their lower half gives way to the place.
            rank = (raw_bits(share) & -_PLACES) | (_LAST - numbers(start - base))
            most = maximum(most, where(meet, rank, np.int32(-1)))
        best = np.int64(greatest(most))
        if best >= 0:
            return base + _LAST - (best & _LAST)
    return np.int64(-1)


@rule
def _cut_slabs(whole, pieces, top, boxes, row, place, d):
    """Write the slabs of a piece that lie below and above a box, one attribute after the other.

    A slab is the rest of the piece with one end moved to the box. It is written in any case and stays if it
    is not empty: that is cheaper than to find out first.
    """
    lane, piece = positions(whole), whole
    for k in range(0, 2 * d, 2):
        begin, end = boxes[row + k, place], boxes[row + k + 1, place]
        low, high = item(whole, k), item(whole, k + 1)
        store(pieces[top], 0, where(lane == k + 1, begin, piece))
        top += low < begin
        piece = where(lane == k, max(low, begin), piece)
        store(pieces[top], 0, where(lane == k, end, piece))
        top += end < high
        piece = where(lane == k + 1, min(high, end), piece)
    return top - 1


@rule
def cut_out(pieces, top, boxes, row, place, d):
    """Cut a box out of the topmost piece of a stack; the new top, one less if nothing is left.

    What is left: per attribute one slab below and one above the box, the piece shrinking as we go.
    """
    if pieces.shape[1] == FEW:
        return _cut_slabs(_load_few(pieces[top], 0), pieces, top, boxes, row, place, d)
    return _cut_slabs(_load_many(pieces[top], 0), pieces, top, boxes, row, place, d)
