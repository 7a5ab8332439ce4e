"""Sixteen neighbours at a time: the inner loops over ring views (`sub2sub.ringpool`) and candidates.

As in `sub2sub.lanes`, the vector code is emitted directly, and plain equivalents run when compilation is off.
A chunk of words may begin a little before a view, or end after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from sub2sub.vectors import LANES, Vectors, flag, int32, int64, ints

__all__ = [
    "append_links",
    "append_neighbours",
    "keep_overlapping",
    "lay_out_lanes",
    "least_of",
    "place_of",
    "shift",
]

LINKS = 8  # 64-bit links in one step
AXES = 4  # attributes of one box in one step


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


def _within(v: Vectors, peers: Any, t: Any, n: Any, up: Any, down: Any) -> Any:
    """Lanes whose peers are less than `up` up the ring from t, or less than `down` down the ring."""
    builder, lanes = v.builder, peers.type
    t, n, up, down = (v.everywhere(builder.trunc(each, int32), lanes) for each in (t, n, up, down))
    ways = builder.sub(peers, t)
    zero = ir.Constant(lanes, [0] * lanes.count)
    ways = builder.select(builder.icmp_signed("<", ways, zero), builder.add(ways, n), ways)
    return builder.or_(
        builder.icmp_signed("<", ways, up), builder.icmp_signed("<", builder.sub(n, ways), down)
    )


def _append(v: Vectors, target: Any, length: Any, count: Any, columns: list[Any], chosen: Any) -> None:
    """Append the chosen lanes of each column to the rows of `target`; `count` is a variable."""
    builder = v.builder
    lanes = chosen.type.count
    before = builder.load(count)
    for row, column in enumerate(columns):
        to = v.address(target, length, int64(row), before)
        v.call(f"llvm.masked.compressstore.v{lanes}i32", ir.VoidType(), [column, to, chosen])
    word = builder.zext(builder.bitcast(chosen, ir.IntType(lanes)), int64)
    builder.store(builder.add(before, builder.ctpop(word)), count)


@intrinsic
def _append_links(typing_context: Any, view: Any, s: Any, size: Any, t: Any, n: Any, up: Any, down: Any,
                  target: Any, count: Any) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, width), (to, length) = v.array(0), v.array(7)
        _, s, size, t, n, up, down, _, count = arguments
        peer_lanes, link_lanes = ir.VectorType(int32, LINKS), ir.VectorType(int64, LINKS)
        total = v.variable(count)
        with cgutils.for_range_slice(builder, int64(0), size, int64(LINKS), int64, inc=True) as (start, _):
            links = v.load(v.address(data, width, s, start), link_lanes)
            peers = builder.trunc(links, peer_lanes)
            stamps = builder.trunc(builder.lshr(links, ir.Constant(link_lanes, [32] * LINKS)), peer_lanes)
            rest = v.everywhere(builder.trunc(builder.sub(size, start), int32), peer_lanes)
            present = builder.icmp_signed("<", ir.Constant(peer_lanes, list(range(LINKS))), rest)
            chosen = builder.and_(present, _within(v, peers, t, n, up, down))
            _append(v, to, length, total, [peers, stamps], chosen)
        return builder.load(total)

    return types.int64(view, *[types.int64] * 6, target, types.int64), generate


@intrinsic
def _append_neighbours(typing_context: Any, words: Any, peers: Any, stamps: Any, since: Any, size: Any,
                       memory: Any, t: Any, n: Any, up: Any, down: Any, target: Any,
                       count: Any) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, _), (to, length) = v.array(0), v.array(10)
        _, peers_at, stamps_at, since_at, size, memory, t, n, up, down, _, count = arguments
        total = v.variable(count)
        least = v.everywhere(builder.trunc(memory, int32))
        with v.chunks(int64(0), size) as (start, _):
            peers, stamps, since = (
                v.load(builder.gep(data, [builder.add(at, start)])) for at in (peers_at, stamps_at, since_at)
            )
            chosen = builder.and_(v.below(size, start), builder.icmp_signed(">=", since, least))
            chosen = builder.and_(chosen, _within(v, peers, t, n, up, down))
            with builder.if_then(v.some(chosen)):
                _append(v, to, length, total, [peers, stamps], chosen)
        return builder.load(total)

    return types.int64(words, *[types.int64] * 9, target, types.int64), generate


@intrinsic
def _keep_overlapping(typing_context: Any, target: Any, count: Any, boxes: Any, t: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, length), (box, width) = v.array(0), v.array(2)
        _, count, _, t = arguments
        corner = ir.VectorType(int32, AXES)
        nibble = ir.IntType(AXES)
        own = v.address(box, width, builder.mul(t, int64(2)), int64(0))
        kept = v.variable(int64(0))
        meet = v.variable(ir.Constant(ir.VectorType(flag, AXES), [1] * AXES))
        with cgutils.for_range(builder, count, intp=int64) as place:
            peer_at = builder.gep(data, [place.index])
            peer, stamp = builder.load(peer_at), builder.load(builder.gep(peer_at, [length]))
            other = v.address(box, width, builder.mul(builder.zext(peer, int64), int64(2)), int64(0))
            builder.store(ir.Constant(ir.VectorType(flag, AXES), [1] * AXES), meet)
            with cgutils.for_range_slice(builder, int64(0), width, int64(AXES), int64, inc=True) as (k, _):
                low, high, own_low, own_high = (
                    v.load(builder.gep(at, [item]), corner)
                    for at in (other, own) for item in (k, builder.add(k, width))
                )  # fmt: skip
                both = builder.and_(
                    builder.icmp_signed("<", low, own_high), builder.icmp_signed("<", own_low, high)
                )
                builder.store(builder.and_(builder.load(meet), both), meet)
            # Written in any case, so that nothing has to be guessed; it only counts if it is kept.
            to = builder.gep(data, [builder.load(kept)])
            builder.store(peer, to)
            builder.store(stamp, builder.gep(to, [length]))
            all_meet = builder.icmp_unsigned(
                "==", builder.bitcast(builder.load(meet), nibble), nibble(2**AXES - 1)
            )
            keep = builder.and_(all_meet, builder.icmp_signed("!=", peer, builder.trunc(t, int32)))
            builder.store(builder.add(builder.load(kept), builder.zext(keep, int64)), kept)
        return builder.load(kept)

    return types.int64(target, types.int64, boxes, types.int64), generate


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

    def append_links(
        view: Any, s: int, size: int, t: int, n: int, up: int, down: int, target: Any, count: int
    ) -> int:
        """Append the links of s, as peer and stamp, less than `up` up the ring from t, or `down` down."""
        peers, stamps = view[s, :size] & 0xFFFFFFFF, view[s, :size] >> 32
        ways = (peers - t) % n
        near = (ways < up) | (n - ways < down)
        end = count + int(near.sum())
        target[0, count:end], target[1, count:end] = peers[near], stamps[near]
        return end

    def append_neighbours(
        words: Any, peers: int, stamps: int, since: int, size: int, memory: int,
        t: int, n: int, up: int, down: int, target: Any, count: int,
    ) -> int:  # fmt: skip
        """The same for neighbours taken up not before `memory`; where their fields begin is given."""
        ways = (words[peers : peers + size].astype(np.int64) - t) % n
        near = (words[since : since + size] >= memory) & ((ways < up) | (n - ways < down))
        end = count + int(near.sum())
        for row, start in enumerate((peers, stamps)):
            target[row, count:end] = words[start : start + size][near]
        return end

    def keep_overlapping(target: Any, count: int, boxes: Any, t: int) -> int:
        """Keep those of the first `count` peers, with their stamps, that overlap t and are not t."""
        peers = target[0, :count]
        low, high = boxes[peers, 0], boxes[peers, 1]
        both = ((low < boxes[t, 1]) & (boxes[t, 0] < high)).all(axis=1) & (peers != t)
        kept = int(both.sum())
        target[:2, :kept] = target[:2, :count][:, both]
        return kept

else:
    lay_out_lanes, place_of, least_of, shift = _lay_out_lanes, _place_of, _least_of, _shift
    append_links, append_neighbours, keep_overlapping = _append_links, _append_neighbours, _keep_overlapping
