"""Eight neighbouring links at a time: the vector instructions that view look-ups live on.

A view is a short row of int32. numba compiles a loop over such a row to scalar code (it allows negative
indices and does not know the length), and looking up links is what gossip mostly does. These four
intrinsics emit the vector code directly; each has a plain equivalent that runs when compilation is off.
Rows are padded to a multiple of `LANES`, so a chunk never ends outside its row.

`prefetch` starts to load a row that will soon be needed, since a population of a million peers is far
larger than any cache. It is a hint: it changes nothing and an address out of range does no harm.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["LANES", "equal_lanes", "first_lane", "least_lane", "padded", "prefetch"]

LANES = 8
_i8, _i32, _i64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_vector = ir.VectorType(_i32, LANES)


def padded(width: int) -> int:
    """The smallest multiple of `LANES` that holds `width` links.

    Examples
    --------
    >>> padded(20)
    24
    """
    return -(-width // LANES) * LANES


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    struct = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(struct.data, [arguments[1]])


def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address = builder.bitcast(_address(context, builder, signature, arguments), _vector.as_pointer())
    return builder.load(address, align=4)


@intrinsic
def _equal_lanes(typing_context: Any, array: Any, start: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = builder.insert_element(ir.Constant(_vector, ir.Undefined), arguments[2], _i32(0))
        all_lanes = ir.Constant(ir.VectorType(_i32, LANES), [0] * LANES)
        wanted = builder.shuffle_vector(one, ir.Constant(_vector, ir.Undefined), all_lanes)
        same = builder.icmp_signed("==", _load(context, builder, signature, arguments), wanted)
        return builder.zext(builder.bitcast(same, _i8), _i64)

    return types.int64(array, types.int64, types.int32), generate


@intrinsic
def _least_lane(typing_context: Any, array: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_i32, [_vector]), "llvm.vector.reduce.smin.v8i32"
        )
        return builder.call(reduce, [_load(context, builder, signature, arguments)])

    return types.int32(array, types.int64), generate


@intrinsic
def _first_lane(typing_context: Any, mask: Any) -> Any:
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
        """Bit k is set where array.flat[start + k] == value, for the eight items from `start` on."""
        return sum(1 << k for k in range(LANES) if array.flat[start + k] == value)

    def least_lane(array: Any, start: int) -> int:
        """Least of the eight items from `start` on."""
        return int(array.flat[start : start + LANES].min())

    def first_lane(mask: int) -> int:
        """Number of the lowest set bit; `mask` is not 0."""
        return (mask & -mask).bit_length() - 1

    def prefetch(array: Any, item: int) -> None:
        """Interpreted kernels have nothing to prefetch."""

else:
    equal_lanes, least_lane, first_lane, prefetch = _equal_lanes, _least_lane, _first_lane, _prefetch
