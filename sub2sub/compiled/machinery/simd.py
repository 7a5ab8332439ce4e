"""Vectors: several numbers as one value, with which kernels compute as they do with numbers.

    meet = (load(lows, start) < high) & (load(highs, start) > low)
    pack(places, count, numbers(start), meet)

numba has no such type; this module and `vector_type` teach it one. A vector is 64 bytes of an array (or fewer
items), or as many flags. LLVM makes of it what the processor has: one register with AVX-512, two with AVX2,
four with SSE or NEON. Operators work lane by lane, and a plain number stands for as many copies of it. Only
`pack` differs between processors: each form of it is the fastest on its kind, by measurement
(`python benchmarks/against.py`).

At the end of an array: `load` reads and `store` and `pack` may write a whole vector. So an array needs as
many spare items behind the last one that is used as a vector has lanes; what is read from them has to be
masked out, what is written to them is anything.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from sub2sub.compiled.common.memory import LANES32, LINE, check_place
from sub2sub.compiled.machinery.vector_type import FLAG, I32, I64, ITEMS, Vector, call, operation

_ints, _flags = Vector(types.int32, LANES32), Vector(types.boolean, 64)
_long = types.int64


def _all_numbers(vector: Vector) -> Any:
    return ir.Constant(ir.VectorType(I32, vector.count), list(range(vector.count)))


@operation(lambda start: _ints(_long))
def numbers(context: Any, builder: Any, kinds: Any, start: Any) -> Any:
    """`start` and the fifteen numbers after it."""
    return builder.add(_ints.spread(builder, builder.trunc(start, I32)), _all_numbers(_ints))


@operation(lambda vector: vector.of(types.int32)(vector))
def positions(context: Any, builder: Any, kinds: Any, vector: Any) -> Any:
    """The numbers of the lanes of a vector."""
    return _all_numbers(kinds.return_type)


@operation(lambda value: Vector(value, 8 * LINE // value.bitwidth)(value))
def in_all_lanes(context: Any, builder: Any, kinds: Any, value: Any) -> Any:
    """A number in all lanes of a vector."""
    return kinds.return_type.spread(builder, value)


@operation(lambda chosen, a, b: (a if isinstance(a, Vector) else b)(chosen, a, b))
def where(context: Any, builder: Any, kinds: Any, chosen: Any, a: Any, b: Any) -> Any:
    """Where chosen a, elsewhere b."""
    pair = zip(kinds.args[1:], (a, b), strict=True)
    return builder.select(chosen, *(kinds.return_type.operand(context, builder, *each) for each in pair))


def _extreme(symbol: str) -> Any:
    def write(context: Any, builder: Any, kinds: Any, a: Any, b: Any) -> Any:
        vector, other = kinds.args
        second = vector.operand(context, builder, other, b)
        return builder.select(vector.compare(builder, symbol, a, second), a, second)

    return operation(lambda a, b: a(a, b))(write)


def _reduction(name: str) -> Any:
    def write(context: Any, builder: Any, kinds: Any, lanes: Any) -> Any:
        (vector,) = kinds.args
        sign = "s" if vector.signed else "u"
        full = f"llvm.vector.reduce.{sign}{name}.v{vector.count}i{vector.item.bitwidth}"
        return call(builder, full, vector.llvm.element, [lanes])

    return operation(lambda vector: vector.item(vector))(write)


def _converter(item: Any, how: str) -> Any:
    def write(context: Any, builder: Any, kinds: Any, value: Any) -> Any:
        result = kinds.return_type
        return getattr(builder, how)(value, result.llvm if isinstance(result, Vector) else ITEMS[item])

    return operation(lambda value: (value.of(item) if isinstance(value, Vector) else item)(value))(write)


@operation(lambda vector, whole: vector(vector, _long))
def scaled(context: Any, builder: Any, kinds: Any, lanes: Any, whole: Any) -> Any:
    """Numbers below `whole`: 32 bits as a share of 2^32."""
    longs = kinds.return_type.of(_long)
    product = builder.mul(builder.zext(lanes, longs.llvm), longs.spread(builder, whole))
    return builder.trunc(builder.lshr(product, longs.spread(builder, I64(32))), kinds.return_type.llvm)


@operation(lambda vector: vector(vector))
def backwards(context: Any, builder: Any, kinds: Any, lanes: Any) -> Any:
    """The last lane first."""
    count = kinds.return_type.count
    order = ir.Constant(ir.VectorType(I32, count), list(range(count - 1, -1, -1)))
    return builder.shuffle_vector(lanes, lanes, order)


@operation(lambda vector, k: vector.item(vector, _long))
def item(context: Any, builder: Any, kinds: Any, lanes: Any, k: Any) -> Any:
    """One lane."""
    return builder.extract_element(lanes, builder.trunc(k, I32))


@operation(lambda chosen: _long(chosen))
def bits(context: Any, builder: Any, kinds: Any, chosen: Any) -> Any:
    """The flags as the bits of a number."""
    count = kinds.args[0].count
    word = builder.bitcast(chosen, ir.IntType(count))
    return word if count == 64 else builder.zext(word, I64)


@operation(lambda mask: _flags(_long))
def flags(context: Any, builder: Any, kinds: Any, mask: Any) -> Any:
    """The bits of a number as 64 flags."""
    return builder.bitcast(mask, _flags.llvm)


@operation(lambda mask: _long(_long))
def first_bit(context: Any, builder: Any, kinds: Any, mask: Any) -> Any:
    """Number of the lowest set bit; `mask` is not 0."""
    return builder.cttz(mask, FLAG(1))


@operation(lambda number: _long(_long))
def bit_length(context: Any, builder: Any, kinds: Any, number: Any) -> Any:
    """Bits of a number that is not negative."""
    return builder.sub(I64(64), builder.ctlz(number, FLAG(0)))


@operation(lambda mask: _long(_long))
def popcount(context: Any, builder: Any, kinds: Any, mask: Any) -> Any:
    """How many bits are set."""
    return builder.ctpop(mask)


minimum, maximum, least, greatest = _extreme("<"), _extreme(">"), _reduction("min"), _reduction("max")
as_floats, as_ints = _converter(types.float32, "sitofp"), _converter(types.int32, "fptosi")
raw_bits, low_half = _converter(types.int32, "bitcast"), _converter(types.int32, "trunc")


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
