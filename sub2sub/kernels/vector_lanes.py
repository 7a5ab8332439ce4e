"""What is computed with the lanes of vectors, and with the bits of their flags."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sub2sub.kernels.memory import LANES32, LINE
from sub2sub.kernels.vector_type import FLAG, I32, I64, ITEMS, Vector, call

_ints = Vector(types.int32, LANES32)


@intrinsic
def numbers(typing_context: Any, start: Any) -> Any:
    """`start` and the fifteen numbers after it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _ints.spread(builder, builder.trunc(arguments[0], I32))
        return builder.add(first, ir.Constant(_ints.llvm, list(range(_ints.count))))

    return _ints(types.int64), generate


@intrinsic
def positions(typing_context: Any, vector: Any) -> Any:
    """The numbers of the lanes of a vector."""
    result = vector.of(types.int32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(result.llvm, list(range(result.count)))

    return result(vector), generate


@intrinsic
def spread(typing_context: Any, value: Any) -> Any:
    """A number in all lanes of a vector."""
    vector = Vector(value, 8 * LINE // value.bitwidth)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return vector.spread(builder, arguments[0])

    return vector(value), generate


@intrinsic
def where(typing_context: Any, chosen: Any, a: Any, b: Any) -> Any:
    """Where chosen a, elsewhere b."""
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
            return call(builder, full, vector.llvm.element, [arguments[0]])

        return vector.item(vector), generate

    return reduction


def _converter(item: Any, how: str) -> Any:
    @intrinsic
    def convert(typing_context: Any, value: Any) -> Any:
        result = value.of(item) if isinstance(value, Vector) else item

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, how)(
                arguments[0], result.llvm if isinstance(result, Vector) else ITEMS[item]
            )

        return result(value), generate

    return convert


@intrinsic
def scaled(typing_context: Any, vector: Any, whole: Any) -> Any:
    """Numbers below `whole`: 32 bits as a share of 2^32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        longs = vector.of(types.int64)
        product = builder.mul(builder.zext(arguments[0], longs.llvm), longs.spread(builder, arguments[1]))
        return builder.trunc(builder.lshr(product, longs.spread(builder, I64(32))), vector.llvm)

    return vector(vector, types.int64), generate


@intrinsic
def backwards(typing_context: Any, vector: Any) -> Any:
    """The last lane first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        order = ir.Constant(ir.VectorType(I32, vector.count), list(range(vector.count - 1, -1, -1)))
        return builder.shuffle_vector(arguments[0], arguments[0], order)

    return vector(vector), generate


@intrinsic
def item(typing_context: Any, vector: Any, k: Any) -> Any:
    """One lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], I32))

    return vector.item(vector, types.int64), generate


@intrinsic
def bits(typing_context: Any, chosen: Any) -> Any:
    """The flags as the bits of a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = builder.bitcast(arguments[0], ir.IntType(chosen.count))
        return word if chosen.count == 64 else builder.zext(word, I64)

    return types.int64(chosen), generate


@intrinsic
def flags(typing_context: Any, mask: Any) -> Any:
    """The bits of a number as 64 flags."""
    chosen = Vector(types.boolean, 64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], chosen.llvm)

    return chosen(types.int64), generate


@intrinsic
def first_bit(typing_context: Any, mask: Any) -> Any:
    """Number of the lowest set bit; `mask` is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], FLAG(1))

    return types.int64(types.int64), generate


@intrinsic
def bit_length(typing_context: Any, number: Any) -> Any:
    """Bits of a number that is not negative."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.sub(I64(64), builder.ctlz(arguments[0], FLAG(0)))

    return types.int64(types.int64), generate


@intrinsic
def popcount(typing_context: Any, mask: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


minimum, maximum, least, greatest = _extreme("<"), _extreme(">"), _reduction("min"), _reduction("max")
as_floats, as_ints = _converter(types.float32, "sitofp"), _converter(types.int32, "fptosi")
raw_bits, low_half = _converter(types.int32, "bitcast"), _converter(types.int32, "trunc")
