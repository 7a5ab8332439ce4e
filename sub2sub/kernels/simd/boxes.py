"""Sixteen boxes at a time: the inner loops of the cover test.

As in `sub2sub.kernels.simd.links`, the vector code is emitted directly, and plain equivalents run when
compilation is off. Boxes have integer coordinates (`sub2sub.geometry.labels`) and stand in columns: row 2a of
an array (rows, places) holds the lows along attribute a, row 2a + 1 the highs, so that one instruction
compares sixteen of them with a piece, which is one row (low, high, low, high, ...) of such numbers. The
number of places is a multiple of `LANES`, the length of a piece of `ENDS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from sub2sub.kernels.simd.vectors import LANES, Vectors, flags, floats, int32, int64, ints

__all__ = ["ENDS", "cut_out", "gather_touching", "largest_share", "strike_points"]

ENDS = 8
_UNIT = 2.0**-15  # widths are of the order of 1 in this unit, so that volumes neither overflow nor vanish
_TINY = float(np.finfo(np.float32).tiny)


@intrinsic
def _gather_touching(
    typing_context: Any, boxes: Any, row: Any, count: Any, pieces: Any, at: Any, d: Any, heap: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, length), (piece, piece_length), (target, target_length) = v.array(0), v.array(3), v.array(6)
        _, row, count, _, at, d, _ = arguments
        gathered = v.variable(int64(0))
        rows = builder.mul(d, int64(2))
        with v.chunks(int64(0), count) as (start, _):
            touching = v.variable(ir.Constant(flags, [0] * LANES))
            builder.store(v.below(count, start), touching)
            with v.axes(d) as axis:
                low_row = builder.mul(axis.index, int64(2))
                low_at, high_at = (
                    v.address(data, length, builder.add(row, each), start)
                    for each in (low_row, builder.add(low_row, int64(1)))
                )
                piece_at = v.address(piece, piece_length, at, low_row)
                low = v.everywhere(builder.load(piece_at))
                high = v.everywhere(builder.load(builder.gep(piece_at, [int64(1)])))
                meet = builder.and_(
                    builder.icmp_signed("<", v.load(low_at), high),
                    builder.icmp_signed("<", low, v.load(high_at)),
                )
                builder.store(builder.and_(builder.load(touching), meet), touching)
            chosen = builder.load(touching)
            with builder.if_then(v.some(chosen)):
                before = builder.load(gathered)
                name = f"llvm.masked.compressstore.v{LANES}i32"
                with v.axes(rows) as k:
                    lanes = v.load(v.address(data, length, builder.add(row, k.index), start))
                    to = v.address(target, target_length, k.index, before)
                    v.call(name, ir.VoidType(), [lanes, to, chosen])
                places = builder.add(
                    v.everywhere(builder.trunc(start, int32)), ir.Constant(ints, list(range(LANES)))
                )
                v.call(name, ir.VoidType(), [places, v.address(target, target_length, rows, before), chosen])
                word = builder.zext(builder.bitcast(chosen, ir.IntType(LANES)), int64)
                builder.store(builder.add(before, builder.ctpop(word)), gathered)
        return builder.load(gathered)

    return types.int64(boxes, types.int64, types.int64, pieces, types.int64, types.int64, heap), generate


@intrinsic
def _largest_share(typing_context: Any, boxes: Any, count: Any, pieces: Any, at: Any, d: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, length), (piece, piece_length) = v.array(0), v.array(2)
        _, count, _, at, d = arguments
        none = ir.Constant(ints, [0] * LANES)
        most, where = v.variable(none), v.variable(none)
        volume = v.variable(ir.Constant(floats, [1.0] * LANES))
        touching = v.variable(ir.Constant(flags, [0] * LANES))
        with v.chunks(int64(0), count) as (start, _):
            builder.store(v.below(count, start), touching)
            builder.store(ir.Constant(floats, [1.0] * LANES), volume)
            with v.axes(d) as axis:
                low_row = builder.mul(axis.index, int64(2))
                low_at = v.address(data, length, low_row, start)
                high_at = builder.gep(low_at, [length])
                piece_at = v.address(piece, piece_length, at, low_row)
                low, high = v.load(low_at), v.load(high_at)
                piece_low = v.everywhere(builder.load(piece_at))
                piece_high = v.everywhere(builder.load(builder.gep(piece_at, [int64(1)])))
                low = builder.select(builder.icmp_signed(">", low, piece_low), low, piece_low)
                high = builder.select(builder.icmp_signed("<", high, piece_high), high, piece_high)
                meet = builder.icmp_signed("<", low, high)
                builder.store(builder.and_(builder.load(touching), meet), touching)
                side = builder.fmul(
                    builder.sitofp(builder.sub(high, low), floats), ir.Constant(floats, [_UNIT] * LANES)
                )
                builder.store(builder.fmul(builder.load(volume), side), volume)
            share = builder.load(volume)
            tiny = ir.Constant(floats, [_TINY] * LANES)
            share = builder.select(builder.fcmp_ordered(">", share, tiny), share, tiny)
            # The bits of positive floats are in the order of the floats.
            share = builder.select(builder.load(touching), builder.bitcast(share, ints), none)
            larger = builder.icmp_signed(">", share, builder.load(most))
            builder.store(builder.select(larger, share, builder.load(most)), most)
            begins = v.everywhere(builder.trunc(start, int32))
            builder.store(builder.select(larger, begins, builder.load(where)), where)
        greatest = v.greatest(builder.load(most))
        best = v.variable(int64(-1))
        with builder.if_then(builder.icmp_signed(">", greatest, int32(0))):
            lane = v.first(builder.icmp_signed("==", builder.load(most), v.everywhere(greatest)))
            builder.store(lane, best)
            with builder.if_then(builder.icmp_signed(">", count, int64(LANES))):
                begin = builder.extract_element(builder.load(where), builder.trunc(lane, int32))
                builder.store(builder.add(builder.zext(begin, int64), lane), best)
        return builder.load(best)

    return types.int64(boxes, types.int64, pieces, types.int64, types.int64), generate


@intrinsic
def _cut_out(typing_context: Any, pieces: Any, at: Any, boxes: Any, place: Any, d: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (piece, length), (data, row_length) = v.array(0), v.array(2)
        _, at, _, place, d = arguments
        own = v.address(piece, length, at, int64(0))
        top = v.variable(at)
        ends = ir.VectorType(int32, ENDS)

        def store(lanes: Any, row: Any) -> None:
            to = builder.bitcast(v.address(piece, length, row, int64(0)), ends.as_pointer())
            builder.store(lanes, to, align=4)

        def by_loop() -> None:
            """Any number of attributes: the piece shrinks in place, a slab is a copy with one end moved."""
            with v.axes(d) as axis:
                k = builder.mul(axis.index, int64(2))
                from_at = v.address(data, row_length, k, place)
                begin, end = builder.load(from_at), builder.load(builder.gep(from_at, [row_length]))
                low_at = builder.gep(own, [k])
                high_at = builder.gep(low_at, [int64(1)])
                with builder.if_then(builder.icmp_signed("<", builder.load(low_at), begin)):
                    push(builder.add(k, int64(1)), begin)
                    builder.store(begin, low_at)
                with builder.if_then(builder.icmp_signed("<", end, builder.load(high_at))):
                    push(k, end)
                    builder.store(end, high_at)
            with builder.if_then(builder.icmp_signed(">", builder.load(top), at)):
                copy(v.address(piece, length, builder.load(top), int64(0)), own)

        def push(k: Any, end: Any) -> None:
            above = builder.add(builder.load(top), int64(1))
            builder.store(above, top)
            slab = v.address(piece, length, above, int64(0))
            copy(own, slab)
            builder.store(end, builder.gep(slab, [k]))

        def copy(source: Any, target: Any) -> None:
            with cgutils.for_range_slice(builder, int64(0), length, int64(ENDS), int64, inc=True) as (m, _):
                to = builder.bitcast(builder.gep(target, [m]), ends.as_pointer())
                builder.store(v.load(builder.gep(source, [m]), ends), to, align=4)

        def at_once() -> None:
            """Up to four attributes fit one vector: all slabs are written, but empty ones do not count."""
            whole = v.load(own, ends)
            box = whole
            for k in range(ENDS):
                inside = builder.icmp_signed("<", int64(k), builder.mul(d, int64(2)))
                end_at = v.address(data, row_length, builder.select(inside, int64(k), int64(0)), place)
                end = builder.select(inside, builder.load(end_at), builder.extract_element(whole, int32(k)))
                box = builder.insert_element(box, end, int32(k))
            swap = ir.Constant(ends, [k ^ 1 for k in range(ENDS)])
            swapped = builder.shuffle_vector(box, box, swap)
            rest = whole
            for k in range(ENDS):
                here, own_end = (
                    builder.extract_element(box, int32(k)),
                    builder.extract_element(whole, int32(k)),
                )
                some = (
                    builder.icmp_signed("<", own_end, here)
                    if k % 2 == 0
                    else builder.icmp_signed("<", here, own_end)
                )
                chosen = [lane + ENDS if lane == k ^ 1 else lane for lane in range(ENDS)]
                store(builder.shuffle_vector(rest, swapped, ir.Constant(ends, chosen)), builder.load(top))
                builder.store(builder.add(builder.load(top), builder.zext(some, int64)), top)
                clipped = builder.insert_element(rest, builder.select(some, here, own_end), int32(k))
                rest = clipped

        with builder.if_else(builder.icmp_signed("<=", d, int64(ENDS // 2))) as (few, many):
            with few:
                at_once()
            with many:
                by_loop()
        return builder.sub(builder.load(top), int64(1))

    return types.int64(pieces, types.int64, boxes, types.int64, types.int64), generate


@intrinsic
def _strike_points(
    typing_context: Any, points: Any, row: Any, first: Any, count: Any, boxes: Any, x: Any, d: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, length), (box, width) = v.array(0), v.array(4)
        _, row, first, count, _, x, d = arguments
        low_at = builder.gep(box, [builder.mul(builder.mul(x, width), int64(2))])
        high_at = builder.gep(low_at, [width])
        inside = v.variable(ir.Constant(flags, [0] * LANES))
        struck = v.variable(int64(0))
        with v.chunks(first, count) as (start, _):
            builder.store(v.below(count, start), inside)
            with v.axes(d) as axis:
                lanes = v.load(v.address(data, length, builder.add(row, axis.index), start))
                low, high = (
                    v.everywhere(builder.load(builder.gep(at, [axis.index]))) for at in (low_at, high_at)
                )
                within = builder.and_(
                    builder.icmp_signed(">=", lanes, low), builder.icmp_signed("<", lanes, high)
                )
                builder.store(builder.and_(builder.load(inside), within), inside)
            chosen = builder.load(inside)
            with builder.if_then(v.some(chosen)):
                at = v.address(data, length, row, start)
                none = ir.Constant(ints, [-1] * LANES)
                lanes = builder.select(chosen, none, v.load(at))
                builder.store(lanes, builder.bitcast(at, ints.as_pointer()), align=4)
                builder.store(int64(1), struck)
        return builder.load(struck)

    return types.int64(
        points, types.int64, types.int64, types.int64, boxes, types.int64, types.int64
    ), generate


if config.DISABLE_JIT:

    def _columns(boxes: Any, row: int, count: int, d: int) -> tuple[Any, Any]:
        rows = boxes[row : row + 2 * d, :count].astype(np.int64)
        return rows[0::2], rows[1::2]

    def gather_touching(boxes: Any, row: int, count: int, pieces: Any, at: int, d: int, heap: Any) -> int:
        """Copy those of the first `count` boxes that touch a piece to `heap`, their places in the last row.

        The boxes stand in rows `row` to `row + 2d - 1`; returns how many touch.
        """
        low, high = _columns(boxes, row, count, d)
        piece = pieces[at].astype(np.int64)[: 2 * d, None]
        places = np.flatnonzero(((low < piece[1::2]) & (piece[0::2] < high)).all(axis=0))
        heap[: 2 * d, : places.size] = boxes[row : row + 2 * d, places]
        heap[2 * d, : places.size] = places
        return int(places.size)

    def largest_share(boxes: Any, count: int, pieces: Any, at: int, d: int) -> int:
        """Which of the first `count` boxes shares most with a piece; -1 if none shares anything."""
        low, high = _columns(boxes, 0, count, d)
        piece = pieces[at].astype(np.int64)[: 2 * d, None]
        sides = np.minimum(high, piece[1::2]) - np.maximum(low, piece[0::2])
        touching = (sides > 0).all(axis=0)
        if not touching.any():
            return -1
        with np.errstate(all="ignore"):
            share = np.prod(sides.astype(np.float32) * np.float32(_UNIT), axis=0, dtype=np.float32)
        share = np.where(touching, np.maximum(share, np.float32(_TINY)), np.float32(0.0))
        return min(np.flatnonzero(share == share.max()), key=lambda place: (place % LANES, place)).item()

    def cut_out(pieces: Any, at: int, boxes: Any, place: int, d: int) -> int:
        """Cut a box out of the topmost piece of a stack; the new top, one less if nothing is left.

        What is left: per attribute one slab below and one above the box, the piece shrinking as we go.
        """
        rest, top = pieces[at, : 2 * d].copy(), at
        for k in range(0, 2 * d, 2):
            begin, end = boxes[k, place], boxes[k + 1, place]
            if rest[k] < begin:
                pieces[top, : 2 * d], pieces[top, k + 1] = rest, begin
                rest[k], top = begin, top + 1
            if end < rest[k + 1]:
                pieces[top, : 2 * d], pieces[top, k] = rest, end
                rest[k + 1], top = end, top + 1
        if 2 * d > ENDS:  # as the vector code leaves them where they do not fit one vector
            pieces[at:top] = np.roll(pieces[at:top], 1, axis=0)
        return top - 1

    def strike_points(points: Any, row: int, first: int, count: int, boxes: Any, x: int, d: int) -> int:
        """Put -1 for the points at `first` to `count` - 1 that lie in the box of x; whether there are any."""
        columns = points[row : row + d, first:count]
        inside = ((boxes[x, 0, :d, None] <= columns) & (columns < boxes[x, 1, :d, None])).all(axis=0)
        columns[0, inside] = -1
        return int(inside.any())

else:
    gather_touching, largest_share = _gather_touching, _largest_share
    cut_out, strike_points = _cut_out, _strike_points
