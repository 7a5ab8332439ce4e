"""Vectors read from arrays and written to them, in the instructions that the processor has.

Only `pack` differs between processors: each form below is the fastest on its kind, by measurement
(`python benchmarks/against.py`).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from sub2sub.compiled.common.memory import LINE, check_place
from sub2sub.compiled.machinery.vector_type import I32, I64, Vector, call, operation


def _address(context: Any, builder: Any, kinds: Any, array: Any, place: Any, target: Any) -> Any:
    """Address, as of a `target`, of an item of an array, the first argument of an operation."""
    check_place(context, builder, place)
    data = context.make_array(kinds.args[0])(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), target.as_pointer())


def _align(kinds: Any) -> int:
    """Bytes of an item of the array."""
    return int(kinds.args[0].dtype.bitwidth) // 8


def loader(count: int) -> Any:
    """A function like `load` for `count` items."""

    def kinds(array: Any, start: Any) -> Any:
        return Vector(array.dtype, count or 8 * LINE // array.dtype.bitwidth)(array, types.int64)

    @operation(kinds)
    def load_vector(context: Any, builder: Any, kinds: Any, array: Any, start: Any) -> Any:
        address = _address(context, builder, kinds, array, start, kinds.return_type.llvm)
        return builder.load(address, align=_align(kinds))

    return load_vector


@operation(lambda array, start, vector: types.void(array, types.int64, vector))
def store(context: Any, builder: Any, kinds: Any, array: Any, start: Any, lanes: Any) -> Any:
    """Write all lanes from `start` on."""
    address = _address(context, builder, kinds, array, start, lanes.type)
    builder.store(lanes, address, align=_align(kinds))
    return context.get_dummy_value()


@operation(lambda array, start, vector, chosen: types.void(array, types.int64, vector, chosen))
def pack(context: Any, builder: Any, kinds: Any, array: Any, start: Any, lanes: Any, chosen: Any) -> Any:
    """Write the chosen lanes next to one another from `start` on, anything behind them."""
    features = context.codegen().magic_tuple()[2]
    form = _pack_avx512 if "+avx512f" in features else _pack_avx2 if "+avx2" in features else _pack_lanes
    form(builder, _address(context, builder, kinds, array, start, lanes.type.element), lanes, chosen)
    return context.get_dummy_value()


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


@operation(lambda array, first, items: items.of(array.dtype)(array, types.int64, items))
def gather(context: Any, builder: Any, kinds: Any, array: Any, first: Any, places: Any) -> Any:
    """The items at the given places after `first`."""
    found, items, size = kinds.return_type, kinds.args[2], _align(kinds)
    data, longs = context.make_array(kinds.args[0])(context, builder, array).data, items.of(types.int64)
    begin = longs.spread(builder, builder.ptrtoint(builder.gep(data, [first]), I64))
    offsets = builder.mul(builder.zext(places, longs.llvm), longs.spread(builder, I64(size)))
    pointers = ir.VectorType(found.llvm.element.as_pointer(), items.count)
    addresses = builder.inttoptr(builder.add(begin, offsets), pointers)
    everywhere = ir.Constant(items.of(types.boolean).llvm, [1] * items.count)
    nothing = ir.Constant(found.llvm, ir.Undefined)
    name = f"llvm.masked.gather.v{items.count}i{8 * size}.v{items.count}p0"
    return call(builder, name, found.llvm, [addresses, I32(size), everywhere, nothing])


@operation(lambda array, start: types.void(array, types.int64))
def prefetch(context: Any, builder: Any, kinds: Any, array: Any, start: Any) -> Any:
    """Begin to load an item that will be needed soon: a hint, harmless if out of range."""
    address = _address(context, builder, kinds, array, start, ir.IntType(8))
    # For reading (0), keep in all caches (3), data and not instructions (1).
    call(builder, "llvm.prefetch.p0i8", ir.VoidType(), [address, I32(0), I32(3), I32(1)])
    return context.get_dummy_value()


load = loader(0)
