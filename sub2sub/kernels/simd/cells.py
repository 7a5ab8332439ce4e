"""Sixty-four cells at a time: the inner loops of the depth buffer (`sub2sub.ring.shadow`).

As in `sub2sub.kernels.simd.links`, the vector code is emitted directly, and plain equivalents run when
compilation is off. The depths of the cells of a box are 64 bytes, a set of cells is a 64-bit word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from sub2sub.kernels.simd.links import ATTRIBUTES
from sub2sub.kernels.simd.vectors import Vectors, byte, flag, float32, int32, int64

__all__ = ["BASE", "BITS", "CELLS", "COUNT", "HIGH", "LOW", "TOP", "bits_of", "deeper_cells", "deepest_cell",
           "inside_lanes", "lower_cells", "scale_lanes", "touched_lanes"]  # fmt: skip

CELLS = 64
LOW, HIGH, TOP, COUNT, BASE, BITS = range(6)  # rows of a frame, see `sub2sub.ring.shadow.Frame`
_ints, _floats = ir.VectorType(int32, ATTRIBUTES), ir.VectorType(float32, ATTRIBUTES)


def _bytes_of(v: Vectors, item: Any) -> tuple[Any, Any]:
    cells = ir.VectorType(byte, CELLS)
    data, _ = v.array(0)
    address = v.builder.bitcast(v.builder.gep(data, [item]), cells.as_pointer())
    return address, v.builder.load(address, align=1)


@intrinsic
def _deeper_cells(typing_context: Any, depths: Any, item: Any, depth: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        _, known = _bytes_of(v, arguments[1])
        depth = v.everywhere(builder.trunc(arguments[2], byte), known.type)
        return builder.bitcast(builder.icmp_unsigned(">", known, depth), int64)

    return types.int64(depths, types.int64, types.int64), generate


@intrinsic
def _lower_cells(typing_context: Any, depths: Any, item: Any, cells: Any, depth: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        address, known = _bytes_of(v, arguments[1])
        depth = v.everywhere(builder.trunc(arguments[3], byte), known.type)
        chosen = builder.bitcast(arguments[2], ir.VectorType(flag, CELLS))
        lower = builder.and_(chosen, builder.icmp_unsigned(">", known, depth))
        builder.store(builder.select(lower, depth, known), address, align=1)
        return context.get_dummy_value()

    return types.void(depths, types.int64, types.int64, types.int64), generate


@intrinsic
def _deepest_cell(typing_context: Any, depths: Any, item: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        _, known = _bytes_of(v, arguments[1])
        return builder.zext(v.call(f"llvm.vector.reduce.umax.v{CELLS}i8", byte, [known]), int64)

    return types.int64(depths, types.int64), generate


def _cells(whole: bool) -> Any:
    """Write the code for the cells that a box touches, or for those that lie wholly inside it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (boxes, width), (frame, _), (scales, _), (table, _) = v.array(0), v.array(2), v.array(3), v.array(4)
        box = v.address(boxes, width, builder.mul(arguments[1], int64(2)), int64(0))
        zero, one = (ir.Constant(_ints, [value] * ATTRIBUTES) for value in (0, 1))
        nibble = ir.IntType(ATTRIBUTES)
        found = v.variable(int64(-1))

        def number(ends: Any, mine: list[Any], scale: Any) -> Any:
            ends = v.least(v.most(ends, mine[LOW]), builder.sub(mine[HIGH], one))
            cells = builder.fmul(builder.sitofp(builder.sub(ends, mine[LOW]), _floats), scale)
            return v.least(builder.fptosi(cells, _ints), mine[TOP])

        with cgutils.for_range_slice(builder, int64(0), width, int64(ATTRIBUTES), int64, inc=True) as (k, _):
            low, high = (v.load(builder.gep(box, [item]), _ints) for item in (k, builder.add(k, width)))
            mine = [
                v.load(v.address(frame, width, int64(row), k), _ints) for row in (LOW, HIGH, TOP, COUNT, BASE)
            ]
            scale = v.load(builder.gep(scales, [k]), _floats)
            some = builder.and_(
                builder.icmp_signed("<", low, mine[HIGH]), builder.icmp_signed("<", mine[LOW], high)
            )
            if whole:
                # Inside are the cells after that of the last point before the box, and before that of the
                # first point after it.
                first = builder.add(number(builder.sub(low, one), mine, scale), one)
                last = builder.sub(number(high, mine, scale), one)
                first = builder.select(builder.icmp_signed(">", low, mine[LOW]), first, zero)
                last = builder.select(builder.icmp_signed("<", high, mine[HIGH]), last, mine[TOP])
                some = builder.and_(some, builder.icmp_signed("<=", first, last))
                first, last = builder.select(some, first, zero), builder.select(some, last, zero)
            else:
                first, last = number(low, mine, scale), number(builder.sub(high, one), mine, scale)
            entry = builder.add(builder.add(builder.mul(first, mine[COUNT]), last), mine[BASE])
            cells = builder.load(found)
            for lane in range(ATTRIBUTES):
                item = builder.zext(builder.extract_element(entry, int32(lane)), int64)
                cells = builder.and_(cells, builder.load(builder.gep(table, [item])))
            every = builder.icmp_unsigned("==", builder.bitcast(some, nibble), nibble(2**ATTRIBUTES - 1))
            builder.store(builder.select(every, cells, int64(0)), found)
        return builder.load(found)

    return generate


@intrinsic
def _touched_lanes(typing_context: Any, boxes: Any, x: Any, bounds: Any, scale: Any, table: Any) -> Any:
    return types.int64(boxes, types.int64, bounds, scale, table), _cells(whole=False)


@intrinsic
def _inside_lanes(typing_context: Any, boxes: Any, x: Any, bounds: Any, scale: Any, table: Any) -> Any:
    return types.int64(boxes, types.int64, bounds, scale, table), _cells(whole=True)


@intrinsic
def _scale_lanes(typing_context: Any, boxes: Any, t: Any, bounds: Any, scale: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v = Vectors(context, builder, signature, arguments)
        (boxes, width), (frame, _), (scales, _) = v.array(0), v.array(2), v.array(3)
        box = v.address(boxes, width, builder.mul(arguments[1], int64(2)), int64(0))
        with cgutils.for_range_slice(builder, int64(0), width, int64(ATTRIBUTES), int64, inc=True) as (k, _):
            low, high = (v.load(builder.gep(box, [item]), _ints) for item in (k, builder.add(k, width)))
            for row, lanes in ((LOW, low), (HIGH, high)):
                to = v.address(frame, width, int64(row), k)
                builder.store(lanes, builder.bitcast(to, _ints.as_pointer()), align=4)
            count = builder.sitofp(v.load(v.address(frame, width, int64(COUNT), k), _ints), _floats)
            scale = builder.fdiv(count, builder.sitofp(builder.sub(high, low), _floats))
            to = builder.bitcast(builder.gep(scales, [k]), _floats.as_pointer())
            builder.store(scale, to, align=4)
        return context.get_dummy_value()

    return types.void(boxes, types.int64, bounds, scale), generate


@intrinsic
def _bits_of(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.sub(int64(64), builder.ctlz(arguments[0], flag(0)))

    return types.int64(types.int64), generate


if config.DISABLE_JIT:

    def deeper_cells(depths: Any, item: int, depth: int) -> np.int64:
        """Bit c is set where byte c of 64 from `item` on is more than `depth`."""
        known = depths.reshape(-1)[item : item + CELLS]
        return np.int64(np.packbits(known > depth, bitorder="little").view(np.int64)[0])

    def lower_cells(depths: Any, item: int, cells: int, depth: int) -> None:
        """Lower to `depth` those of 64 bytes from `item` on that are more and whose bits are set."""
        known = depths.reshape(-1)[item : item + CELLS]
        chosen = np.unpackbits(np.array([cells], np.int64).view(np.uint8), bitorder="little").astype(bool)
        known[chosen] = np.minimum(known[chosen], depth)

    def deepest_cell(depths: Any, item: int) -> int:
        """The greatest of 64 bytes."""
        return int(depths.reshape(-1)[item : item + CELLS].max())

    def _number(bounds: Any, scale: Any, k: int, place: int) -> int:
        return min(int(np.float32(int(place) - int(bounds[LOW, k])) * scale[k]), int(bounds[TOP, k]))

    def touched_lanes(boxes: Any, x: int, bounds: Any, scale: Any, table: Any) -> np.int64:
        """Cells of the framed box that the box of x touches: 0 if it does not overlap at all."""
        touched = np.int64(-1)
        for k in range(boxes.shape[2]):
            low, high = max(boxes[x, 0, k], bounds[LOW, k]), min(boxes[x, 1, k], bounds[HIGH, k])
            if low >= high:
                return np.int64(0)
            first, last = (_number(bounds, scale, k, end) for end in (low, high - 1))
            touched &= table[bounds[BASE, k] + first * bounds[COUNT, k] + last]
        return np.int64(touched)

    def inside_lanes(boxes: Any, x: int, bounds: Any, scale: Any, table: Any) -> np.int64:
        """Cells of the framed box that lie wholly inside the box of x."""
        inside = np.int64(-1)
        for k in range(boxes.shape[2]):
            first, last = 0, int(bounds[TOP, k])
            low, high = boxes[x, 0, k], boxes[x, 1, k]
            if low >= bounds[HIGH, k] or high <= bounds[LOW, k]:
                return np.int64(0)
            if low > bounds[LOW, k]:
                first = _number(bounds, scale, k, low - 1) + 1
            if high < bounds[HIGH, k]:
                last = _number(bounds, scale, k, high) - 1
            if first > last:
                return np.int64(0)
            inside &= table[bounds[BASE, k] + first * bounds[COUNT, k] + last]
        return np.int64(inside)

    def scale_lanes(boxes: Any, t: int, bounds: Any, scale: Any) -> None:
        """Write the box of t, and how many cells there are to a unit, into a frame."""
        bounds[LOW], bounds[HIGH] = boxes[t]
        scale[:] = bounds[COUNT].astype(np.float32) / (bounds[HIGH] - bounds[LOW]).astype(np.float32)

    def bits_of(number: int) -> int:
        """Bits of a positive number."""
        return int(number).bit_length()

else:
    deeper_cells, lower_cells, deepest_cell = _deeper_cells, _lower_cells, _deepest_cell
    touched_lanes, inside_lanes, scale_lanes, bits_of = _touched_lanes, _inside_lanes, _scale_lanes, _bits_of
