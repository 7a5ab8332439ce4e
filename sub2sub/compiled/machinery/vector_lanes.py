"""What is computed with the lanes of vectors, and with the bits of their flags."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from sub2sub.compiled.common.memory import LANES32, LINE
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
def spread(context: Any, builder: Any, kinds: Any, value: Any) -> Any:
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
