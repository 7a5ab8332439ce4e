"""Eight links or four attributes at a time: the vector instructions that gossip lives on.

A view is a short row of 64-bit words, a box two short rows of floats. numba compiles a loop over such a row to scalar code (it allows
negative indices and does not know the length), and looking up links and
comparing boxes is what gossip mostly does. These
intrinsics emit the vector code directly; each has a plain equivalent that runs when compilation is off.
Rows are padded to a multiple of `LANES`, so that a chunk never ends outside its row.

`prefetch` starts to load a row that will soon be needed, since a population of a million peers is far
larger than any cache. It is a hint: it changes nothing and an address out of range does no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = [
    "ATTRIBUTES",
    "LANES",
    "aligned",
    "equal_lanes",
    "first_bit",
    "gap_lanes",
    "least_lane",
    "low_equal_lanes",
    "overlap_lanes",
    "padded",
    "prefetch",
]

LANES = 8  # links in one step
ATTRIBUTES = 4  # attributes in one step
_i8, _i32, _i64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_vector = ir.VectorType(_i64, LANES)
_undefined = ir.Constant(_vector, ir.Undefined)
_f64 = ir.DoubleType()
_corner = ir.VectorType(_f64, ATTRIBUTES)


def padded(width: int, lanes: int = LANES) -> int:
    """The smallest multiple of `lanes` that holds `width` items.

    Examples
    --------
    >>> padded(20)
    24
    """
    return -(-width // lanes) * lanes


def aligned(shape: tuple[int, ...], fill: int | float, dtype: Any) -> NDArray[Any]:
    """A filled array that begins at a cache line, so that short rows do not straddle two.

    Examples
    --------
    >>> aligned((3, 8), 0, np.int64).ctypes.data % 64
    0
    """
    items = int(np.prod(shape))
    spare = 64 // np.dtype(dtype).itemsize
    block = np.empty(items + spare, dtype)
    start = -(block.ctypes.data // block.itemsize) % spare
    array = block[start : start + items].reshape(shape)
    array[...] = fill
    return array


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    struct = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(struct.data, [arguments[1]])


def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address = builder.bitcast(_address(context, builder, signature, arguments), _vector.as_pointer())
    return builder.load(address, align=8)


def _mask_of_equal(builder: Any, lanes: Any, value: Any) -> Any:
    one = builder.insert_element(_undefined, value, _i32(0))
    everywhere = ir.Constant(ir.VectorType(_i32, LANES), [0] * LANES)
    same = builder.icmp_signed("==", lanes, builder.shuffle_vector(one, _undefined, everywhere))
    return builder.zext(builder.bitcast(same, _i8), _i64)


@intrinsic
def _equal_lanes(typing_context: Any, array: Any, start: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _mask_of_equal(builder, _load(context, builder, signature, arguments), arguments[2])

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _low_equal_lanes(typing_context: Any, array: Any, start: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low = ir.Constant(_vector, [0xFFFFFFFF] * LANES)
        lanes = builder.and_(_load(context, builder, signature, arguments), low)
        return _mask_of_equal(builder, lanes, arguments[2])

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _least_lane(typing_context: Any, array: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_i64, [_vector]), "llvm.vector.reduce.smin.v8i64"
        )
        return builder.call(reduce, [_load(context, builder, signature, arguments)])

    return types.int64(array, types.int64), generate


def _corners(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Four attributes of the low and high corners of two boxes that start at given items."""
    struct = context.make_array(signature.args[0])(context, builder, arguments[0])
    a, b, to_high = arguments[1:]
    loads = []
    for item in (a, builder.add(a, to_high), b, builder.add(b, to_high)):
        address = builder.bitcast(builder.gep(struct.data, [item]), _corner.as_pointer())
        loads.append(builder.load(address, align=8))
    return loads


@intrinsic
def _overlap_lanes(typing_context: Any, boxes: Any, a: Any, b: Any, to_high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_a, high_a, low_b, high_b = _corners(context, builder, signature, arguments)
        both = builder.and_(
            builder.fcmp_ordered("<", low_a, high_b), builder.fcmp_ordered("<", low_b, high_a)
        )
        nibble = ir.IntType(ATTRIBUTES)
        return builder.icmp_unsigned("==", builder.bitcast(both, nibble), nibble(2**ATTRIBUTES - 1))

    return types.boolean(boxes, types.int64, types.int64, types.int64), generate


@intrinsic
def _gap_lanes(typing_context: Any, boxes: Any, a: Any, b: Any, to_high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_a, high_a, low_b, high_b = _corners(context, builder, signature, arguments)
        above, below = builder.fsub(low_a, high_b), builder.fsub(low_b, high_a)
        gap = builder.select(builder.fcmp_ordered(">", above, below), above, below)
        zero = ir.Constant(_corner, [0.0] * ATTRIBUTES)
        apart = builder.fcmp_ordered(">=", gap, zero)
        gap = builder.select(apart, gap, zero)
        squares = builder.fmul(gap, gap)
        parts = [builder.extract_element(squares, _i32(k)) for k in range(ATTRIBUTES)]
        total = builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3]))
        nibble = ir.IntType(ATTRIBUTES)
        none = builder.icmp_unsigned("==", builder.bitcast(apart, nibble), nibble(0))
        return builder.select(none, _f64(-1.0), total)

    return types.float64(boxes, types.int64, types.int64, types.int64), generate


@intrinsic
def _first_bit(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def _prefetch(typing_context: Any, array: Any, item: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = _i8.as_pointer()
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, _i32, _i32, _i32]), "llvm.prefetch.p0i8"
        )
        # For reading (0), keep in all caches (3), data and not instructions (1).
        address = builder.bitcast(_address(context, builder, signature, arguments), byte)
        builder.call(hint, [address, _i32(0), _i32(3), _i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


if config.DISABLE_JIT:

    def equal_lanes(array: Any, start: int, value: int) -> int:
        """Bit k is set where array[start + k] == value, for the eight items from `start` on."""
        return sum(1 << k for k in range(LANES) if array[start + k] == value)

    def low_equal_lanes(array: Any, start: int, value: int) -> int:
        """Bit k is set where the low half of array[start + k] is `value`."""
        return sum(1 << k for k in range(LANES) if array[start + k] & 0xFFFFFFFF == value)

    def least_lane(array: Any, start: int) -> int:
        """Least of the eight items from `start` on."""
        return int(array[start : start + LANES].min())

    def overlap_lanes(boxes: Any, a: int, b: int, to_high: int) -> bool:
        """Whether the boxes at items a and b share a point, as far as four attributes tell."""
        low_a, high_a, low_b, high_b = _plain_corners(boxes, a, b, to_high)
        return bool(((low_a < high_b) & (low_b < high_a)).all())

    def gap_lanes(boxes: Any, a: int, b: int, to_high: int) -> float:
        """Squared distance of the boxes at items a and b along four attributes; -1 if they overlap there."""
        low_a, high_a, low_b, high_b = _plain_corners(boxes, a, b, to_high)
        gap = np.maximum(low_a - high_b, low_b - high_a)
        squares = np.where(gap >= 0, gap, 0.0) ** 2
        total = (squares[0] + squares[1]) + (squares[2] + squares[3])
        return float(total) if (gap >= 0).any() else -1.0

    def _plain_corners(boxes: Any, a: int, b: int, to_high: int) -> tuple[Any, ...]:
        flat = boxes.reshape(-1)
        return tuple(flat[k : k + ATTRIBUTES] for k in (a, a + to_high, b, b + to_high))

    def first_bit(mask: int) -> int:
        """Number of the lowest set bit; `mask` is not 0."""
        return (int(mask) & -int(mask)).bit_length() - 1

    def prefetch(array: Any, item: int) -> None:
        """Interpreted kernels have nothing to prefetch."""

else:
    equal_lanes, low_equal_lanes, least_lane = _equal_lanes, _low_equal_lanes, _least_lane
    overlap_lanes, gap_lanes, first_bit, prefetch = _overlap_lanes, _gap_lanes, _first_bit, _prefetch
