"""Vectors: several numbers as one value, with which kernels compute as they do with numbers.

    meet = (load(lows, start) < high) & (load(highs, start) > low)
    pack(places, count, numbers(start), meet)

numba has no such type; this module teaches it one, and is the only one that knows LLVM. A `Vector` is 64
bytes of an array (or fewer items), or as many flags. LLVM makes of it what the processor has: one register
with AVX-512, two with AVX2, four with SSE or NEON. Operators work lane by lane, and a plain number stands for
as many copies of it. When compilation is off, vectors are short NumPy arrays and the same kernels run.

At the end of an array: `load` reads and `store` and `pack` may write a whole vector. So an array needs as
many spare items behind the last one that is used as a vector has lanes; what is read from them has to be
masked out, what is written to them is anything.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from sub2sub.kernels.memory import LANES32, LINE

__all__ = ["as_floats", "as_ints", "backwards", "bit_length", "bits", "first_bit", "flags", "gather",
           "greatest", "item", "least", "load", "loader", "low_half", "maximum", "minimum", "numbers", "pack",
           "popcount", "positions", "prefetch", "raw_bits", "scaled", "spread", "store", "where"]  # fmt: skip

_ITEMS = {types.boolean: ir.IntType(1), types.uint8: ir.IntType(8), types.int32: ir.IntType(32),
          types.int64: ir.IntType(64), types.float32: ir.FloatType(),
          types.float64: ir.DoubleType()}  # fmt: skip
_flag, _i32, _i64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
# What LLVM calls an operation on integers, and on floats.
_ARITHMETIC = {"add": ("add", "fadd"), "sub": ("sub", "fsub"), "mul": ("mul", "fmul"), "and_": ("and_", ""),
               "or_": ("or_", ""), "xor": ("xor", ""), "rshift": ("ashr", ""),
               "truediv": ("", "fdiv")}  # fmt: skip
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Vector(types.Type):  # type: ignore[misc]
    """numba's type of several values of one type."""

    def __init__(self, item: Any, count: int) -> None:
        self.item, self.count = item, count
        self.is_float, self.signed = isinstance(item, types.Float), getattr(item, "signed", True)
        super().__init__(f"Vector({item}, {count})")

    @property
    def llvm(self) -> Any:
        """LLVM's type."""
        return ir.VectorType(_ITEMS[self.item], self.count)

    def of(self, item: Any) -> Vector:
        """As many values of another type."""
        return Vector(item, self.count)

    def spread(self, builder: Any, value: Any) -> Any:
        """One value in all lanes."""
        undefined = ir.Constant(self.llvm, ir.Undefined)
        one = builder.insert_element(undefined, value, _i32(0))
        return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_i32, self.count), None))

    def operand(self, context: Any, builder: Any, kind: Any, value: Any) -> Any:
        """A vector as it is, a number in all lanes."""
        if isinstance(kind, Vector):
            return value
        return self.spread(builder, context.cast(builder, value, kind, self.item))

    def compare(self, builder: Any, symbol: str, a: Any, b: Any) -> Any:
        """Flags."""
        if self.is_float:
            return builder.fcmp_ordered(symbol, a, b)
        return (builder.icmp_signed if self.signed else builder.icmp_unsigned)(symbol, a, b)


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.llvm)


_ints = Vector(types.int32, LANES32)


def _teach(name: str) -> None:
    """Teach numba an operator of vectors, and its in-place form."""
    comparing = name in _COMPARE

    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, arguments: Any, keywords: Any) -> Any:
            kinds = [kind for kind in arguments if isinstance(kind, Vector)]
            if kinds and all(isinstance(kind, Vector | types.Number) for kind in arguments):
                plain = (types.unliteral(kind) for kind in arguments)
                return signature(kinds[0].of(types.boolean) if comparing else kinds[0], *plain)
            return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = next(each for each in signature.args if isinstance(each, Vector))
        a, b = (kind.operand(context, builder, *pair) for pair in zip(signature.args, arguments, strict=True))
        if comparing:
            return kind.compare(builder, _COMPARE[name], a, b)
        return getattr(builder, _ARITHMETIC[name][kind.is_float])(a, b)

    for each in (name, "i" + name.rstrip("_")):
        if hasattr(operator, each):
            infer_global(getattr(operator, each))(Template)
            for kinds in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
                lower_builtin(getattr(operator, each), *kinds)(generate)


for _name in (*_COMPARE, *_ARITHMETIC):
    _teach(_name)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Call a function that LLVM knows by name."""
    shape = ir.FunctionType(result, [each.type for each in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, shape, name), arguments)


def _address(context: Any, builder: Any, kind: Any, arguments: Any, target: Any) -> Any:
    """Address, as of a `target`, of the item of an array that the first two arguments name."""
    data = context.make_array(kind)(context, builder, arguments[0]).data
    return builder.bitcast(builder.gep(data, [arguments[1]]), target.as_pointer())


def _align(kind: Any) -> int:
    return int(kind.dtype.bitwidth) // 8


def _loader(count: int) -> Any:
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
def _store(typing_context: Any, array: Any, start: Any, vector: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments, vector.llvm)
        builder.store(arguments[2], address, align=_align(array))
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), generate


@intrinsic
def _pack(typing_context: Any, array: Any, start: Any, vector: Any, chosen: Any) -> Any:
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
    _call(builder, name, ir.VoidType(), [value, address, mask])


def _pack_avx512(builder: Any, address: Any, value: Any, mask: Any) -> None:
    """In a register, then stored: AMD's Zen 4 takes 80 cycles to do both in one instruction."""
    name = f"llvm.experimental.vector.compress.v{value.type.count}i32"
    packed = _call(builder, name, value.type, [value, mask, ir.Constant(value.type, ir.Undefined)])
    builder.store(packed, builder.bitcast(address, value.type.as_pointer()), align=4)


def _pack_avx2(builder: Any, address: Any, value: Any, mask: Any) -> None:
    """Eight lanes at a time, moved to where a table has them for their mask."""
    eight, byte = ir.VectorType(_i32, 8), ir.IntType(8)
    table = builder.module.globals.get("sub2sub.packed_lanes")
    if table is None:
        rows = [sum(lane << 8 * place for place, lane in enumerate(_lanes_of(mask))) for mask in range(256)]
        table = cgutils.global_constant(
            builder.module, "sub2sub.packed_lanes", ir.Constant(ir.ArrayType(_i64, 256), rows)
        )
    word = builder.bitcast(mask, ir.IntType(value.type.count))
    for first in range(0, value.type.count, 8):
        lanes = ir.Constant(eight, list(range(first, first + 8)))
        part = builder.shuffle_vector(value, value, lanes)
        index = builder.zext(builder.trunc(builder.lshr(word, word.type(first)), byte), _i64)
        row = builder.load(builder.gep(table, [_i64(0), index]))
        order = builder.zext(builder.bitcast(row, ir.VectorType(byte, 8)), eight)
        packed = _call(builder, "llvm.x86.avx2.permd", eight, [part, order])
        builder.store(packed, builder.bitcast(address, eight.as_pointer()), align=4)
        address = builder.gep(address, [builder.ctpop(index)])


def _lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(8) if mask >> lane & 1]


@intrinsic
def _gather(typing_context: Any, array: Any, first: Any, items: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        longs, found = items.of(types.int64), items.of(array.dtype)
        begin = longs.spread(builder, builder.ptrtoint(builder.gep(data, [arguments[1]]), _i64))
        offsets = builder.mul(
            builder.zext(arguments[2], longs.llvm), longs.spread(builder, _i64(_align(array)))
        )
        pointers = ir.VectorType(found.llvm.element.as_pointer(), items.count)
        addresses = builder.inttoptr(builder.add(begin, offsets), pointers)
        everywhere = ir.Constant(items.of(types.boolean).llvm, [1] * items.count)
        nothing = ir.Constant(found.llvm, ir.Undefined)
        name = f"llvm.masked.gather.v{items.count}i{array.dtype.bitwidth}.v{items.count}p0"
        return _call(builder, name, found.llvm, [addresses, _i32(_align(array)), everywhere, nothing])

    return items.of(array.dtype)(array, types.int64, items), generate


@intrinsic
def _numbers(typing_context: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _ints.spread(builder, builder.trunc(arguments[0], _i32))
        return builder.add(first, ir.Constant(_ints.llvm, list(range(_ints.count))))

    return _ints(types.int64), generate


@intrinsic
def _positions(typing_context: Any, vector: Any) -> Any:
    result = vector.of(types.int32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(result.llvm, list(range(result.count)))

    return result(vector), generate


@intrinsic
def _spread(typing_context: Any, value: Any) -> Any:
    vector = Vector(value, 8 * LINE // value.bitwidth)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return vector.spread(builder, arguments[0])

    return vector(value), generate


@intrinsic
def _where(typing_context: Any, chosen: Any, a: Any, b: Any) -> Any:
    kind = a if isinstance(a, Vector) else b

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pair = (kind.operand(context, builder, *each) for each in zip((a, b), arguments[1:], strict=True))
        return builder.select(arguments[0], *pair)

    return kind(chosen, a, b), generate


def _extreme(symbol: str) -> Any:
    @intrinsic
    def extreme(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            first, second = (
                a.operand(context, builder, *each) for each in zip((a, b), arguments, strict=True)
            )
            return builder.select(a.compare(builder, symbol, first, second), first, second)

        return a(a, b), generate

    return extreme


def _reduction(name: str) -> Any:
    @intrinsic
    def reduction(typing_context: Any, vector: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            sign = "s" if vector.signed else "u"
            full = f"llvm.vector.reduce.{sign}{name}.v{vector.count}i{vector.item.bitwidth}"
            return _call(builder, full, vector.llvm.element, [arguments[0]])

        return vector.item(vector), generate

    return reduction


def _converter(item: Any, how: str) -> Any:
    @intrinsic
    def convert(typing_context: Any, value: Any) -> Any:
        result = value.of(item) if isinstance(value, Vector) else item

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, how)(
                arguments[0], result.llvm if isinstance(result, Vector) else _ITEMS[item]
            )

        return result(value), generate

    return convert


@intrinsic
def _scaled(typing_context: Any, vector: Any, whole: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        longs = vector.of(types.int64)
        product = builder.mul(builder.zext(arguments[0], longs.llvm), longs.spread(builder, arguments[1]))
        return builder.trunc(builder.lshr(product, longs.spread(builder, _i64(32))), vector.llvm)

    return vector(vector, types.int64), generate


@intrinsic
def _backwards(typing_context: Any, vector: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        order = ir.Constant(ir.VectorType(_i32, vector.count), list(range(vector.count - 1, -1, -1)))
        return builder.shuffle_vector(arguments[0], arguments[0], order)

    return vector(vector), generate


@intrinsic
def _item(typing_context: Any, vector: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], _i32))

    return vector.item(vector, types.int64), generate


@intrinsic
def _bits(typing_context: Any, chosen: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = builder.bitcast(arguments[0], ir.IntType(chosen.count))
        return word if chosen.count == 64 else builder.zext(word, _i64)

    return types.int64(chosen), generate


@intrinsic
def _flags(typing_context: Any, mask: Any) -> Any:
    chosen = Vector(types.boolean, 64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], chosen.llvm)

    return chosen(types.int64), generate


@intrinsic
def _first_bit(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _flag(1))

    return types.int64(types.int64), generate


@intrinsic
def _bit_length(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.sub(_i64(64), builder.ctlz(arguments[0], _flag(0)))

    return types.int64(types.int64), generate


@intrinsic
def _popcount(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic
def _prefetch(typing_context: Any, array: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments, ir.IntType(8))
        # For reading (0), keep in all caches (3), data and not instructions (1).
        _call(builder, "llvm.prefetch.p0i8", ir.VoidType(), [address, _i32(0), _i32(3), _i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


if config.DISABLE_JIT:

    def loader(count: int) -> Any:
        """A function like `load` for so many items."""

        def load_vector(array: Any, start: int) -> Any:
            vector = np.zeros(count or LINE // array.itemsize, array.dtype)
            part = array[start : start + vector.size]
            vector[: part.size] = part
            return vector

        return load_vector

    load = loader(0)

    def store(array: Any, start: int, vector: Any) -> None:
        """Write all lanes from `start` on."""
        part = array[start : start + vector.size]
        part[...] = vector[: part.size]

    def pack(array: Any, start: int, vector: Any, chosen: Any) -> None:
        """Write the chosen lanes next to one another from `start` on, anything behind them."""
        array[start : start + int(chosen.sum())] = vector[chosen]

    def gather(array: Any, first: int, items: Any) -> Any:
        """The items so many places after `first`."""
        return array.reshape(-1)[first + items.astype(np.int64)]

    def numbers(start: int) -> Any:
        """`start` and the fifteen numbers after it."""
        return np.arange(start, start + LANES32).astype(np.int32)

    def positions(vector: Any) -> Any:
        """The numbers of the lanes of a vector."""
        return np.arange(vector.size, dtype=np.int32)

    def spread(value: Any) -> Any:
        """A number in all lanes of a vector."""
        return np.full(LINE // value.itemsize, value)

    def where(chosen: Any, a: Any, b: Any) -> Any:
        """Where chosen a, elsewhere b."""
        return np.where(chosen, a, b).astype((a if isinstance(a, np.ndarray) else b).dtype)

    def minimum(a: Any, b: Any) -> Any:
        """The lesser of each two."""
        return np.minimum(a, b).astype(a.dtype)

    def maximum(a: Any, b: Any) -> Any:
        """The greater of each two."""
        return np.maximum(a, b).astype(a.dtype)

    def least(vector: Any) -> Any:
        """The least of integers."""
        return vector.min()

    def greatest(vector: Any) -> Any:
        """The greatest of integers."""
        return vector.max()

    def item(vector: Any, k: int) -> Any:
        """One lane."""
        return vector[k]

    def backwards(vector: Any) -> Any:
        """The last lane first."""
        return vector[::-1]

    def as_floats(vector: Any) -> Any:
        """32-bit integers as floats."""
        return vector.astype(np.float32)

    def as_ints(vector: Any) -> Any:
        """32-bit floats as integers, rounded towards 0."""
        return vector.astype(np.int32)

    def raw_bits(vector: Any) -> Any:
        """The bits of 32-bit floats as integers: in the same order, for floats that are not negative."""
        return vector.view(np.int32)

    def low_half(vector: Any) -> Any:
        """The low halves of 64-bit integers, or of one."""
        return np.asarray(vector, np.int64).astype(np.int32)[()]

    def scaled(vector: Any, whole: int) -> Any:
        """Numbers below `whole`: 32 bits as a share of 2^32."""
        product = vector.view(np.uint32).astype(np.uint64) * np.uint64(whole)
        return (product >> np.uint64(32)).astype(np.int32)

    def bits(chosen: Any) -> np.int64:
        """The flags as the bits of a number."""
        word = np.zeros(64, np.bool_)
        word[: chosen.size] = chosen
        return np.int64(np.packbits(word, bitorder="little").view(np.int64)[0])

    def flags(mask: int) -> Any:
        """The bits of a number as 64 flags."""
        return np.unpackbits(np.array([mask], np.int64).view(np.uint8), bitorder="little").astype(np.bool_)

    def first_bit(mask: int) -> int:
        """Number of the lowest set bit; `mask` is not 0."""
        return (int(mask) & -int(mask)).bit_length() - 1

    def bit_length(number: int) -> int:
        """Bits of a number that is not negative."""
        return int(number).bit_length()

    def popcount(mask: int) -> int:
        """How many bits are set."""
        return (int(mask) & 0xFFFFFFFFFFFFFFFF).bit_count()

    def prefetch(array: Any, start: int) -> None:
        """Begin to load an item that will be needed soon: a hint, harmless if out of range."""

else:
    loader, load, store, pack, gather, prefetch = _loader, _loader(0), _store, _pack, _gather, _prefetch
    numbers, positions, spread, where, item, backwards = (
        _numbers,
        _positions,
        _spread,
        _where,
        _item,
        _backwards,
    )
    minimum, maximum, least, greatest = _extreme("<"), _extreme(">"), _reduction("min"), _reduction("max")
    as_floats, as_ints = _converter(types.float32, "sitofp"), _converter(types.int32, "fptosi")
    raw_bits, low_half, scaled = _converter(types.int32, "bitcast"), _converter(types.int32, "trunc"), _scaled
    bits, flags, first_bit, bit_length, popcount = _bits, _flags, _first_bit, _bit_length, _popcount
