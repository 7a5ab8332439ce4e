"""Boxes of two arrays compared four attributes at a time: the inner loops of the cover test.

As in `sub2sub.lanes`, the vector code is emitted directly, and plain equivalents run when compilation is
off. Boxes are rows (2, width), the width padded with attributes on which every box is [0, 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

__all__ = ["HUGE", "common_part", "touch"]

HUGE = float(np.finfo(np.float64).max)
_LANES = 4
_f64, _i64, _nibble = ir.DoubleType(), ir.IntType(64), ir.IntType(_LANES)
_corner = ir.VectorType(_f64, _LANES)


def _corners(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    loads = []
    for array, item in ((0, 1), (2, 3)):
        struct = context.make_array(signature.args[array])(context, builder, arguments[array])
        for start in (arguments[item], builder.add(arguments[item], arguments[4])):
            address = builder.bitcast(builder.gep(struct.data, [start]), _corner.as_pointer())
            loads.append(builder.load(address, align=8))
    return loads


def _all(builder: Any, lanes: Any) -> Any:
    return builder.icmp_unsigned("==", builder.bitcast(lanes, _nibble), _nibble(2**_LANES - 1))


@intrinsic
def _touch(typing_context: Any, boxes: Any, a: Any, others: Any, b: Any, to_high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_a, high_a, low_b, high_b = _corners(context, builder, signature, arguments)
        below = builder.fcmp_ordered("<", low_a, high_b)
        above = builder.fcmp_ordered("<", low_b, high_a)
        return _all(builder, builder.and_(below, above))

    return types.boolean(boxes, types.int64, others, types.int64, types.int64), generate


@intrinsic
def _common_part(typing_context: Any, boxes: Any, a: Any, pieces: Any, b: Any, to_high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_a, high_a, low_b, high_b = _corners(context, builder, signature, arguments)
        from_a = builder.fcmp_ordered(">", low_a, low_b)
        to_a = builder.fcmp_ordered("<", high_a, high_b)
        low = builder.select(from_a, low_a, low_b)
        high = builder.select(to_a, high_a, high_b)
        meets = _all(builder, builder.fcmp_ordered("<", low, high))
        cut = builder.bitcast(builder.or_(from_a, to_a), _nibble)
        holds = builder.icmp_unsigned("==", cut, _nibble(0))
        widths = builder.fsub(high, low)
        sides = [builder.extract_element(widths, ir.IntType(32)(k)) for k in range(_LANES)]
        volume = builder.fmul(builder.fmul(sides[0], sides[1]), builder.fmul(sides[2], sides[3]))
        # Only a piece held whole is infinite; a volume that overflows, or is NaN, is merely very large.
        volume = builder.select(builder.fcmp_ordered("<", volume, _f64(HUGE)), volume, _f64(HUGE))
        volume = builder.select(holds, _f64(np.inf), volume)
        return builder.select(meets, volume, _f64(-1.0))

    return types.float64(boxes, types.int64, pieces, types.int64, types.int64), generate


if config.DISABLE_JIT:

    def _plain(boxes: Any, a: int, others: Any, b: int, to_high: int) -> tuple[Any, ...]:
        flat, other = boxes.reshape(-1), others.reshape(-1)
        ends = ((flat, a), (flat, a + to_high), (other, b), (other, b + to_high))
        return tuple(array[k : k + _LANES] for array, k in ends)

    def touch(boxes: Any, a: int, others: Any, b: int, to_high: int) -> bool:
        """Whether the boxes at item a of one array and item b of another overlap along four attributes."""
        low_a, high_a, low_b, high_b = _plain(boxes, a, others, b, to_high)
        return bool(((low_a < high_b) & (low_b < high_a)).all())

    def common_part(boxes: Any, a: int, pieces: Any, b: int, to_high: int) -> float:
        """Volume of what a box and a piece share along four attributes: -1 if nothing, inf if the whole piece."""
        low_a, high_a, low_b, high_b = _plain(boxes, a, pieces, b, to_high)
        low, high = np.maximum(low_a, low_b), np.minimum(high_a, high_b)
        if not (low < high).all():
            return -1.0
        if ((low_a <= low_b) & (high_a >= high_b)).all():
            return float("inf")
        widths = high - low
        volume = float((widths[0] * widths[1]) * (widths[2] * widths[3]))
        return volume if volume < HUGE else HUGE

else:
    touch, common_part = _touch, _common_part
