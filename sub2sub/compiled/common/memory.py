"""How arrays lie in memory: padded to whole vectors, and beginning at a cache line.

If SUB2SUB_CHECK_INDICES is set, kernels check that they stay inside of them (`check_place`).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a cache line, and of a vector (`sub2sub.compiled.machinery.simd`)
LANES32, LANES64 = LINE // 4, LINE // 8  # items of 32 and of 64 bits in a vector
ATTRIBUTES = 4  # attributes of a box that are compared in one step
CHECKED = bool(os.environ.get("SUB2SUB_CHECK_INDICES"))


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


def check_place(context: Any, builder: Any, place: Any, size: Any = None) -> None:
    """Where kernels are checked, write the code that raises an error for a place outside of an array.

    Outside is below 0, and from `size` on if that is given.
    """
    if not CHECKED:
        return
    if size is None:
        outside = builder.icmp_signed("<", place, place.type(0))
    else:
        outside = builder.icmp_unsigned(">=", place, size)
    with builder.if_then(outside, likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a place outside of its array",))
