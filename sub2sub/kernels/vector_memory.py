"""Vectors read from arrays and written to them, in the instructions that the processor has.

Only `pack` differs between processors: each form below is the fastest on its kind, by measurement
(`python benchmarks/against.py`).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sub2sub.kernels.compilers import check_place
from sub2sub.kernels.memory import LINE
from sub2sub.kernels.vector_type import I32, I64, Vector, call


def _address(context: Any, builder: Any, kind: Any, arguments: Any, target: Any) -> Any:
    """Address, as of a `target`, of the item of an array that the first two arguments name."""
    check_place(context, builder, arguments[1])
    data = context.make_array(kind)(context, builder, arguments[0]).data
    return builder.bitcast(builder.gep(data, [arguments[1]]), target.as_pointer())


def _align(kind: Any) -> int:
    return int(kind.dtype.bitwidth) // 8


def loader(count: int) -> Any:
    """A function like `load` for so many items."""

    @intrinsic
    def load_vector(typing_context: Any, array: Any, start: Any) -> Any:
        vector = Vector(array.dtype, count or 8 * LINE // array.dtype.bitwidth)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(
                _address(context, builder, array, arguments, vector.llvm), align=_align(array)
            )

        return vector(array, types.int64), generate

    return load_vector


@intrinsic
def store(typing_context: Any, array: Any, start: Any, vector: Any) -> Any:
    """Write all lanes from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments, vector.llvm)
        builder.store(arguments[2], address, align=_align(array))
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@intrinsic
def pack(typing_context: Any, array: Any, start: Any, vector: Any, chosen: Any) -> Any:
    """Write the chosen lanes next to one another from `start` on, anything behind them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        features = context.codegen().magic_tuple()[2]
        form = _pack_avx512 if "+avx512f" in features else _pack_avx2 if "+avx2" in features else _pack_lanes
        address = _address(context, builder, array, arguments, vector.llvm.element)
        form(builder, address, *arguments[2:])
        return context.get_dummy_value()

    return types.void(array, types.int64, vector, chosen), generate


def _pack_lanes(builder: Any, address: Any, value: Any, mask: Any) -> None:
    """One lane after the other: what any processor can do."""
    name = f"llvm.masked.compressstore.v{value.type.count}i32"
    call(builder, name, ir.VoidType(), [value, address, mask])


def _pack_avx512(builder: Any, address: Any, value: Any, mask: Any) -> None:
    """In a register, then stored: AMD's Zen 4 takes 80 cycles to do both in one instruction."""
    name = f"llvm.experimental.vector.compress.v{value.type.count}i32"
    packed = call(builder, name, value.type, [value, mask, ir.Constant(value.type, ir.Undefined)])
    builder.store(packed, builder.bitcast(address, value.type.as_pointer()), align=4)


def _pack_avx2(builder: Any, address: Any, value: Any, mask: Any) -> None:
    """Eight lanes at a time, moved to where a table has them for their mask."""
    eight, byte = ir.VectorType(I32, 8), ir.IntType(8)
    table = builder.module.globals.get("sub2sub.packed_lanes")
    if table is None:
        rows = [sum(lane << 8 * place for place, lane in enumerate(_lanes_of(mask))) for mask in range(256)]
        table = cgutils.global_constant(
            builder.module, "sub2sub.packed_lanes", ir.Constant(ir.ArrayType(I64, 256), rows)
        )
    word = builder.bitcast(mask, ir.IntType(value.type.count))
    for first in range(0, value.type.count, 8):
        lanes = ir.Constant(eight, list(range(first, first + 8)))
        part = builder.shuffle_vector(value, value, lanes)
        index = builder.zext(builder.trunc(builder.lshr(word, word.type(first)), byte), I64)
        row = builder.load(builder.gep(table, [I64(0), index]))
        order = builder.zext(builder.bitcast(row, ir.VectorType(byte, 8)), eight)
        packed = call(builder, "llvm.x86.avx2.permd", eight, [part, order])
        builder.store(packed, builder.bitcast(address, eight.as_pointer()), align=4)
        address = builder.gep(address, [builder.ctpop(index)])


def _lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(8) if mask >> lane & 1]


@intrinsic
def gather(typing_context: Any, array: Any, first: Any, items: Any) -> Any:
    """The items so many places after `first`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        longs, found = items.of(types.int64), items.of(array.dtype)
        begin = longs.spread(builder, builder.ptrtoint(builder.gep(data, [arguments[1]]), I64))
        offsets = builder.mul(
            builder.zext(arguments[2], longs.llvm), longs.spread(builder, I64(_align(array)))
        )
        pointers = ir.VectorType(found.llvm.element.as_pointer(), items.count)
        addresses = builder.inttoptr(builder.add(begin, offsets), pointers)
        everywhere = ir.Constant(items.of(types.boolean).llvm, [1] * items.count)
        nothing = ir.Constant(found.llvm, ir.Undefined)
        name = f"llvm.masked.gather.v{items.count}i{array.dtype.bitwidth}.v{items.count}p0"
        return call(builder, name, found.llvm, [addresses, I32(_align(array)), everywhere, nothing])

    return items.of(array.dtype)(array, types.int64, items), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, start: Any) -> Any:
    """Begin to load an item that will be needed soon: a hint, harmless if out of range."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments, ir.IntType(8))
        # For reading (0), keep in all caches (3), data and not instructions (1).
        call(builder, "llvm.prefetch.p0i8", ir.VoidType(), [address, I32(0), I32(3), I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


load = loader(0)
