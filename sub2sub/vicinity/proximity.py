"""How near two subscriptions are (Sub-2-Sub, Section 4.1): 0 if they overlap, else the boxes' distance.

Read differently from the paper: the printed formula also squares negative gaps, that is overlaps, along the
attributes where two boxes do overlap. Meant is the Euclidean distance between the boxes, whose gap along an
attribute is max(0, max l - min r). With the formula as printed, five attributes never converge.

Many peers overlap one another, and all are at distance 0. Which of them VICINITY keeps is the `Tie`:

- RANDOM: a random choice, renewed all the time. Views stay random samples of the overlapping peers, which
  is what dissemination needs for its shortcuts. The default.
- KEEP: those that came first. Views freeze; ring construction starves.
- SEQUENCE: those whose sequence IDs are nearest. Views become small rings of their own: fastest to
  converge, but no longer random, so that shortcuts lead next door.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.simd.links import ATTRIBUTES, aligned, padded

__all__ = ["Tie", "gap_lanes", "overlap", "overlap_lanes", "packed_boxes", "proximity"]

_f64, _i32, _all = ir.DoubleType(), ir.IntType(32), ir.IntType(ATTRIBUTES)
_corner = ir.VectorType(_f64, ATTRIBUTES)
# Squared distances are kept as float32, between these: half-open boxes that only touch are at distance 0 and
# yet apart, and below the least there is room to order overlapping peers by.
_LEAST, _MOST = np.float32(1e-30), np.float32(3e38)


class Tie(IntEnum):
    """Which of several overlapping peers VICINITY prefers."""

    RANDOM = 0
    KEEP = 1
    SEQUENCE = 2


def packed_boxes(lows: NDArray[np.float64], highs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half-open boxes as one array (n, 2, width) for the kernels.

    The width is the number of attributes, padded with attributes on which everybody overlaps.

    Examples
    --------
    >>> packed_boxes(np.zeros((5, 3)), np.ones((5, 3))).shape
    (5, 2, 4)
    """
    n, d = lows.shape
    boxes = aligned((n, 2, padded(d, ATTRIBUTES)), 0.0, np.float64)
    boxes[:, 1] = 1.0
    boxes[:, 0, :d], boxes[:, 1, :d] = lows, highs
    return boxes


def _corners(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Four attributes of the low and high corners of two boxes that start at given items."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    a, b, to_high = arguments[1:]
    corners = []
    for item in (a, builder.add(a, to_high), b, builder.add(b, to_high)):
        address = builder.bitcast(builder.gep(data, [item]), _corner.as_pointer())
        corners.append(builder.load(address, align=8))
    return corners


@intrinsic
def _overlap_lanes(typing_context: Any, boxes: Any, a: Any, b: Any, to_high: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low_a, high_a, low_b, high_b = _corners(context, builder, signature, arguments)
        both = builder.and_(
            builder.fcmp_ordered("<", low_a, high_b), builder.fcmp_ordered("<", low_b, high_a)
        )
        return builder.icmp_unsigned("==", builder.bitcast(both, _all), _all(2**ATTRIBUTES - 1))

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
        none = builder.icmp_unsigned("==", builder.bitcast(apart, _all), _all(0))
        return builder.select(none, _f64(-1.0), total)

    return types.float64(boxes, types.int64, types.int64, types.int64), generate


if config.DISABLE_JIT:

    def _plain_corners(boxes: Any, a: int, b: int, to_high: int) -> tuple[Any, ...]:
        flat = boxes.reshape(-1)
        return tuple(flat[k : k + ATTRIBUTES] for k in (a, a + to_high, b, b + to_high))

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

else:
    overlap_lanes, gap_lanes = _overlap_lanes, _gap_lanes


@rule
def overlap(boxes, i, j):
    """Whether the boxes of peers i and j share a point."""
    width = boxes.shape[2]
    a, b = i * 2 * width, j * 2 * width
    shared = overlap_lanes(boxes, a, b, width)
    for k in range(ATTRIBUTES, width, ATTRIBUTES):
        shared &= overlap_lanes(boxes, a + k, b + k, width)
    return shared


@rule
def proximity(boxes, i, j, tie):
    """Squared distance between the boxes of peers i and j; 0 when they overlap.

    Under Tie.SEQUENCE overlapping peers get almost 0 (next on the ring) to 1e-30 (opposite).
    """
    width = boxes.shape[2]
    a, b = i * 2 * width, j * 2 * width
    total = gap_lanes(boxes, a, b, width)
    for k in range(ATTRIBUTES, width, ATTRIBUTES):
        part = gap_lanes(boxes, a + k, b + k, width)
        if part >= 0.0:
            total = max(total, 0.0) + part
    if total >= 0.0:
        return min(max(np.float32(total), _LEAST), _MOST)
    if tie == 2:
        n = boxes.shape[0]
        way = abs(i - j)
        return np.float32(min(way, n - way) / n) * _LEAST
    return np.float32(0.0)
