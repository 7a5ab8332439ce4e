"""How arrays lie in memory: padded to whole vectors, and beginning at a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a cache line, and of a vector (`sub2sub.kernels.simd`)
LANES32, LANES64 = LINE // 4, LINE // 8  # items of 32 and of 64 bits in a vector
ATTRIBUTES = 4  # attributes of a box that are compared in one step


def padded(width: int, step: int = LANES64) -> int:
    """The smallest multiple of `step` that is at least `width`.

    Examples
    --------
    >>> padded(20)
    24
    """
    return -(-width // step) * step


def aligned(shape: tuple[int, ...], fill: Any, dtype: Any) -> NDArray[Any]:
    """A filled array that begins at a cache line, so that short rows do not straddle two.

    Examples
    --------
    >>> aligned((3, 8), 0, np.int64).ctypes.data % 64
    0
    """
    items = int(np.prod(shape))
    spare = LINE // np.dtype(dtype).itemsize
    block = np.empty(items + spare, dtype)
    start = -(block.ctypes.data // block.itemsize) % spare
    array = block[start : start + items].reshape(shape)
    array[...] = fill
    return array
