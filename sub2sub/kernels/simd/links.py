"""Eight links at a time: the vector instructions that gossip lives on.

A view is a short row of 64-bit words. numba compiles a loop over such a row to scalar code (it allows
negative indices and does not know the length), and looking up links is what gossip mostly does. These
intrinsics emit the vector code directly; each has a plain equivalent that runs when compilation is off.
Rows are padded to a multiple of `LANES`, so that a chunk never ends outside its row. Items are compared as
signed integers of their size: for floats that is their own order as long as none is negative.

`prefetch` starts to load a row that will soon be needed, since a population of a million peers is far larger
than any cache. It is a hint: it changes nothing and an address out of range does no harm.
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
    "greatest_lane",
    "least_lane",
    "low_equal_lanes",
    "padded",
    "popcount",
    "prefetch",
    "shared_lanes",
]

LANES = 8  # links in one step
ATTRIBUTES = 4  # attributes of a box in one step
_i8, _i32, _i64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_lows = ir.VectorType(_i32, LANES)


def padded(width: int, lanes: int = LANES) -> int:
    """The smallest multiple of `lanes` that holds `width` items.

    Examples
    --------
    >>> padded(20)
    24
    """
    return -(-width // lanes) * lanes


def aligned(shape: tuple[int, ...], fill: Any, dtype: Any) -> NDArray[Any]:
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


def _address(context: Any, builder: Any, array_type: Any, array: Any, item: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [item])


def _load(context: Any, builder: Any, array_type: Any, array: Any, start: Any) -> Any:
    """Eight items as integers."""
    vector = ir.VectorType(ir.IntType(array_type.dtype.bitwidth), LANES)
    address = _address(context, builder, array_type, array, start)
    return builder.load(builder.bitcast(address, vector.as_pointer()), align=4)


def _equal(builder: Any, lanes: Any, value: Any) -> Any:
    """Where `lanes` hold `value`."""
    undefined = ir.Constant(lanes.type, ir.Undefined)
    one = builder.insert_element(undefined, value, _i32(0))
    everywhere = builder.shuffle_vector(one, undefined, ir.Constant(_lows, [0] * LANES))
    return builder.icmp_signed("==", lanes, everywhere)


def _mask(builder: Any, flags: Any) -> Any:
    return builder.zext(builder.bitcast(flags, _i8), _i64)


@intrinsic
def _equal_lanes(typing_context: Any, array: Any, start: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _load(context, builder, array, *arguments[:2])
        value = arguments[2]
        if lanes.type.element != _i64:
            value = builder.trunc(value, lanes.type.element)
        return _mask(builder, _equal(builder, lanes, value))

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _low_equal_lanes(typing_context: Any, array: Any, start: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _load(context, builder, array, *arguments[:2])
        lows = builder.and_(lanes, ir.Constant(lanes.type, [0xFFFFFFFF] * LANES))
        return _mask(builder, _equal(builder, lows, arguments[2]))

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _shared_lanes(typing_context: Any, array: Any, start: Any, other: Any, other_start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lows = builder.trunc(_load(context, builder, array, *arguments[:2]), _lows)
        shared = None
        for k in range(LANES):
            item = builder.add(arguments[3], _i64(k))
            word = builder.load(_address(context, builder, other, arguments[2], item))
            equal = _equal(builder, lows, builder.trunc(word, _i32))
            shared = equal if shared is None else builder.or_(shared, equal)
        return _mask(builder, shared)

    return types.int64(array, types.int64, other, types.int64), generate


def _extreme(context: Any, builder: Any, array_type: Any, arguments: Any, which: str) -> Any:
    lanes = _load(context, builder, array_type, *arguments)
    item = lanes.type.element
    name = f"llvm.vector.reduce.{which}.v{LANES}{item}"
    reduce = cgutils.get_or_insert_function(builder.module, ir.FunctionType(item, [lanes.type]), name)
    extreme = builder.call(reduce, [lanes])
    return extreme if item == _i64 else builder.sext(extreme, _i64)


@intrinsic
def _least_lane(typing_context: Any, array: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _extreme(context, builder, array, arguments, "smin")

    return types.int64(array, types.int64), generate


@intrinsic
def _greatest_lane(typing_context: Any, array: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _extreme(context, builder, array, arguments, "smax")

    return types.int64(array, types.int64), generate


@intrinsic
def _first_bit(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def _popcount(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic
def _prefetch(typing_context: Any, array: Any, item: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = _i8.as_pointer()
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, _i32, _i32, _i32]), "llvm.prefetch.p0i8"
        )
        # For reading (0), keep in all caches (3), data and not instructions (1).
        address = builder.bitcast(_address(context, builder, array, *arguments), byte)
        builder.call(hint, [address, _i32(0), _i32(3), _i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


if config.DISABLE_JIT:

    def _integers(array: Any, start: int) -> Any:
        return array[start : start + LANES].view(f"i{array.itemsize}")

    def _plain_mask(flags: Any) -> np.int64:
        return np.int64(sum(1 << k for k in range(LANES) if flags[k]))

    def equal_lanes(array: Any, start: int, value: int) -> np.int64:
        """Bit k is set where array[start + k], as an integer, is `value`; for eight items from `start` on."""
        return _plain_mask(_integers(array, start) == value)

    def low_equal_lanes(array: Any, start: int, value: int) -> np.int64:
        """Bit k is set where the low half of array[start + k] is `value`."""
        return _plain_mask(array[start : start + LANES] & 0xFFFFFFFF == value)

    def shared_lanes(array: Any, start: int, other: Any, other_start: int) -> np.int64:
        """Bit k is set where array[start + k] and one of eight items of `other` have the same low half."""
        words, others = array[start : start + LANES], other[other_start : other_start + LANES]
        return _plain_mask(np.isin(words & 0xFFFFFFFF, others & 0xFFFFFFFF))

    def least_lane(array: Any, start: int) -> int:
        """Least of eight items, as an integer."""
        return int(_integers(array, start).min())

    def greatest_lane(array: Any, start: int) -> int:
        """Greatest of eight items, as an integer."""
        return int(_integers(array, start).max())

    def first_bit(mask: int) -> int:
        """Number of the lowest set bit; `mask` is not 0."""
        return (int(mask) & -int(mask)).bit_length() - 1

    def popcount(mask: int) -> int:
        """How many bits are set; `mask` is not negative."""
        return int(mask).bit_count()

    def prefetch(array: Any, item: int) -> None:
        """Interpreted kernels have nothing to prefetch."""

else:
    equal_lanes, low_equal_lanes, shared_lanes = _equal_lanes, _low_equal_lanes, _shared_lanes
    least_lane, greatest_lane, first_bit = _least_lane, _greatest_lane, _first_bit
    popcount, prefetch = _popcount, _prefetch
