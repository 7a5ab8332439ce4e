"""Sixteen candidates at a time: the inner loops over what one peer may want of what another knows.

As in `sub2sub.kernels.simd.links`, the vector code is emitted directly, and plain equivalents run when
compilation is off. Candidates are two rows of an array, their numbers and their stamps; each step writes
those it keeps to the front (`sub2sub.ring.offers`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from sub2sub.kernels.simd.vectors import LANES, Vectors, flag, int32, int64, ints, longs

__all__ = ["SPREAD", "append_links", "append_neighbours", "drop_tried", "keep_overlapping"]

LINKS = 8  # 64-bit links in one step
AXES = 4  # attributes of one box in one step
SPREAD = 0x9E3779B1  # spreads the numbers of peers over slots, see `sub2sub.ring.pool.tried_at`


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
def _drop_tried(typing_context: Any, target: Any, first: Any, count: Any, words: Any, table: Any, slots: Any,
                known_too: Any, known: Any) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (data, length), (word_data, _), (known_at, _) = v.array(0), v.array(3), v.array(7)
        _, first, count, _, table, slots, known_too, _ = arguments
        kept = v.variable(first)
        many = v.everywhere(slots, longs)
        either = v.everywhere(builder.trunc(builder.neg(known_too), int32))
        with v.chunks(first, count) as (start, _):
            peers, stamps = (v.load(v.address(data, length, int64(row), start)) for row in (0, 1))
            present = v.below(count, start)
            spread = builder.zext(builder.mul(peers, ir.Constant(ints, [SPREAD - 2**32] * LANES)), longs)
            slot = builder.lshr(builder.mul(spread, many), ir.Constant(longs, [32] * LANES))
            offsets = builder.shl(slot, ir.Constant(longs, [2] * LANES))
            entries = v.gather(builder.gep(word_data, [table]), offsets, present)
            negative = builder.ashr(entries, ir.Constant(ints, [31] * LANES))
            entries = builder.xor(entries, builder.and_(negative, either))
            tried = builder.and_(builder.icmp_signed("==", entries, peers), present)
            neighbour = builder.icmp_signed("<", negative, ir.Constant(ints, [0] * LANES))
            word = builder.bitcast(builder.and_(tried, neighbour), ir.IntType(LANES))
            passed = builder.ctpop(builder.zext(word, int64))
            builder.store(builder.add(builder.load(known_at), passed), known_at)
            chosen = builder.and_(present, builder.not_(tried))
            _append(v, data, length, kept, [peers, stamps], chosen)
        return builder.load(kept)

    return types.int64(
        target, types.int64, types.int64, words, types.int64, types.int64, types.int64, known
    ), generate


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

    def drop_tried(
        target: Any, first: int, count: int, words: Any, table: int, slots: int, known_too: int, known: Any
    ) -> int:
        """Drop those from `first` on that were tried, neighbours only if `known_too`, and count these."""
        peers = target[0, first:count].astype(np.int64)
        entries = words[table + (((peers * SPREAD & 0xFFFFFFFF) * slots) >> 32)]
        neighbour = (~entries == peers) & bool(known_too)
        left = (entries != peers) & ~neighbour
        known[0] += int(neighbour.sum())
        kept = first + int(left.sum())
        target[:2, first:kept] = target[:2, first:count][:, left]
        return kept

    def keep_overlapping(target: Any, count: int, boxes: Any, t: int) -> int:
        """Keep those of the first `count` peers, with their stamps, that overlap t and are not t."""
        peers = target[0, :count]
        low, high = boxes[peers, 0], boxes[peers, 1]
        both = ((low < boxes[t, 1]) & (boxes[t, 0] < high)).all(axis=1) & (peers != t)
        kept = int(both.sum())
        target[:2, :kept] = target[:2, :count][:, both]
        return kept

else:
    append_links, append_neighbours, drop_tried = _append_links, _append_neighbours, _drop_tried
    keep_overlapping = _keep_overlapping
