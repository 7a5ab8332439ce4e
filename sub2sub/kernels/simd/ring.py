"""Sixteen neighbours at a time: the inner loops over ring views (`sub2sub.ring.pool`).

As in `sub2sub.kernels.simd.links`, the vector code is emitted directly, and plain equivalents run when
compilation is off. A chunk of words may begin a little before a view, or end after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from sub2sub.kernels.simd.vectors import LANES, Vectors, int32, int64, ints

__all__ = ["lay_out_lanes", "least_of", "place_of", "shift"]


@intrinsic
def _lay_out_lanes(typing_context: Any, words: Any, first: Any, count: Any, room: Any, witness: Any,
                   boxes: Any, t: Any, d: Any, lists: Any, side: Any) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, _), (box, width), (target, length) = v.array(0), v.array(5), v.array(8)
        _, first, count, room, witness, _, t, d, _, side = arguments
        struct = context.make_array(signature.args[5])(context, builder, arguments[5])
        n = v.everywhere(builder.trunc(cgutils.unpack_tuple(builder, struct.shape)[0], int32))
        down = builder.icmp_signed("!=", side, int64(0))
        lists_row = builder.mul(side, builder.add(builder.mul(d, int64(3)), int64(1)))
        backwards = ir.Constant(ints, list(range(LANES - 1, -1, -1)))
        name = f"llvm.masked.compressstore.v{LANES}i32"
        listed = v.variable(int64(0))

        def lanes_at(at: Any) -> Any:
            lanes = v.load(builder.gep(data, [at]))
            return builder.select(down, builder.shuffle_vector(lanes, lanes, backwards), lanes)

        with v.chunks(int64(0), count) as (start, _):
            last = builder.sub(builder.sub(count, start), int64(LANES))
            place = builder.select(down, last, start)
            from_witness = builder.add(builder.add(first, witness), place)
            chosen = builder.icmp_signed(">=", lanes_at(from_witness), ir.Constant(ints, [0] * LANES))
            chosen = builder.and_(chosen, v.below(count, start))
            before = builder.load(listed)
            peers = lanes_at(builder.add(first, place))
            v.call(name, ir.VoidType(), [peers, v.address(target, length, lists_row, before), chosen])
            with v.axes(d) as axis:
                lanes = lanes_at(builder.add(from_witness, builder.mul(axis.index, room)))
                row = builder.add(lists_row, builder.add(axis.index, int64(1)))
                v.call(name, ir.VoidType(), [lanes, v.address(target, length, row, before), chosen])
            word = builder.zext(builder.bitcast(chosen, ir.IntType(LANES)), int64)
            builder.store(builder.add(before, builder.ctpop(word)), listed)
        size = builder.load(listed)
        with v.chunks(int64(0), size) as (start, _):
            peers_at = v.address(target, length, lists_row, start)
            peers, present = v.load(peers_at), v.below(size, start)
            item = v.boxes_at(peers, builder.mul(width, int64(2)))
            with v.axes(builder.mul(d, int64(2))) as k:
                half = builder.lshr(k.index, int64(1))
                offset = builder.add(half, builder.mul(builder.and_(k.index, int64(1)), width))
                lanes = v.gather(builder.gep(box, [offset]), item, present)
                row = builder.add(builder.add(lists_row, builder.add(d, int64(1))), k.index)
                to = v.address(target, length, row, start)
                builder.store(lanes, builder.bitcast(to, ints.as_pointer()), align=4)
            holder = v.everywhere(builder.trunc(t, int32))
            ways = builder.select(down, builder.sub(holder, peers), builder.sub(peers, holder))
            around = builder.icmp_signed("<", ways, ir.Constant(ints, [0] * LANES))
            ways = builder.select(around, builder.add(ways, n), ways)
            builder.store(ways, builder.bitcast(peers_at, ints.as_pointer()), align=4)
        return size

    arguments = (words, *[types.int64] * 4, boxes, types.int64, types.int64, lists, types.int64)
    return types.int64(*arguments), generate


@intrinsic
def _place_of(typing_context: Any, words: Any, first: Any, count: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        data, _ = v.array(0)
        _, first, count, value = arguments
        wanted = v.everywhere(builder.trunc(value, int32))
        found = v.variable(int64(-1))
        with v.chunks(int64(0), count) as (start, _):
            lanes = v.load(builder.gep(data, [builder.add(first, start)]))
            chosen = builder.and_(builder.icmp_signed("==", lanes, wanted), v.below(count, start))
            nothing = builder.icmp_signed("<", builder.load(found), int64(0))
            with builder.if_then(builder.and_(v.some(chosen), nothing)):
                builder.store(builder.add(start, v.first(chosen)), found)
        return builder.load(found)

    return types.int64(words, types.int64, types.int64, types.int64), generate


@intrinsic
def _least_of(typing_context: Any, words: Any, first: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        data, _ = v.array(0)
        _, first, count = arguments
        most = ir.Constant(ints, [2**31 - 1] * LANES)
        least = v.variable(most)
        with v.chunks(int64(0), count) as (start, _):
            lanes = v.load(builder.gep(data, [builder.add(first, start)]))
            lanes = builder.select(v.below(count, start), lanes, most)
            before = builder.load(least)
            builder.store(builder.select(builder.icmp_signed("<", lanes, before), lanes, before), least)
        return builder.sext(
            v.call(f"llvm.vector.reduce.smin.v{LANES}i32", int32, [builder.load(least)]), int64
        )

    return types.int64(words, types.int64, types.int64), generate


@intrinsic
def _shift(
    typing_context: Any, array: Any, first: Any, row_length: Any, rows: Any, count: Any, by: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        data, _ = v.array(0)
        _, first, row_length, rows, count, by = arguments
        up = builder.icmp_signed(">", by, int64(0))
        chunks = builder.sdiv(builder.add(count, int64(LANES - 1)), int64(LANES))
        with cgutils.for_range(builder, rows, intp=int64) as row:
            start = builder.gep(data, [builder.add(first, builder.mul(row.index, row_length))])
            with cgutils.for_range(builder, chunks, intp=int64) as step:
                # What moves up moves last things first, so that nothing is overwritten before it has moved.
                backwards = builder.sub(builder.sub(chunks, int64(1)), step.index)
                chunk = builder.mul(builder.select(up, backwards, step.index), int64(LANES))
                source = builder.gep(start, [chunk])
                target = builder.bitcast(builder.gep(source, [by]), ints.as_pointer())
                name = f"llvm.masked.store.v{LANES}i32.p0"
                v.call(name, ir.VoidType(), [v.load(source), target, int32(4), v.below(count, chunk)])
        return context.get_dummy_value()

    return types.void(array, *[types.int64] * 5), generate


if config.DISABLE_JIT:

    def lay_out_lanes(
        words: Any,
        first: int,
        count: int,
        room: int,
        witness: int,
        boxes: Any,
        t: int,
        d: int,
        lists: Any,
        side: int,
    ) -> int:
        """Lay out the neighbours of t on one side, nearest first, in columns: way, witness, box; how many."""
        places = np.arange(count) if side == 0 else np.arange(count)[::-1]
        places = places[words[first + witness + places] >= 0]
        peers, columns = words[first + places].astype(np.int64), lists[side][:, : places.size]
        columns[0] = (peers - t if side == 0 else t - peers) % boxes.shape[0]
        for a in range(d):
            columns[1 + a] = words[first + witness + a * room + places]
            columns[1 + d + 2 * a], columns[2 + d + 2 * a] = boxes[peers, 0, a], boxes[peers, 1, a]
        return int(places.size)

    def place_of(words: Any, first: int, count: int, value: int) -> int:
        """Place of a value among `count` items from `first` on, or -1."""
        places = np.flatnonzero(words.reshape(-1)[first : first + count] == value)
        return int(places[0]) if places.size else -1

    def least_of(words: Any, first: int, count: int) -> int:
        """The least of `count` words from `first` on."""
        return int(words[first : first + count].min())

    def shift(array: Any, first: int, row_length: int, rows: int, count: int, by: int) -> None:
        """Move `count` items from `first` on, of each of several rows, by one place up or down."""
        flat = array.reshape(-1)
        for start in range(first, first + rows * row_length, row_length):
            flat[start + by : start + by + count] = flat[start : start + count].copy()

else:
    lay_out_lanes, place_of, least_of, shift = _lay_out_lanes, _place_of, _least_of, _shift
