"""Vectors of uncompiled kernels: short NumPy arrays, and each operation a line or two that says what it does.

`import tests.sub2sub.kernels.uncompiled`, before any kernel, puts these in the place of
`sub2sub.compiled.machinery.simd` where numba compiles nothing (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
from numba import config

from sub2sub.compiled.common.memory import LANES32, LINE


def loader(count: int) -> Any:
    """A function like `load` for `count` items."""

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
    """The items at the given places after `first`."""
    return array.reshape(-1)[first + items.astype(np.int64)]


def numbers(start: int) -> Any:
    """`start` and the fifteen numbers after it."""
    return np.arange(start, start + LANES32).astype(np.int32)


def positions(vector: Any) -> Any:
    """The numbers of the lanes of a vector."""
    return np.arange(vector.size, dtype=np.int32)


def in_all_lanes(value: Any) -> Any:
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


least, greatest, backwards, item = np.min, np.max, np.flip, operator.getitem


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


if config.DISABLE_JIT:
    sys.modules["sub2sub.compiled.machinery.simd"] = sys.modules[__name__]
