"""Loops compiled by numba as it is: for geometry and rings, which other programs import.

`@jitted` is `numba.njit` with numba's own cache on disk. It changes nothing of numba; kernels of the
simulator are compiled by `sub2sub.compiled.machinery.compilation`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jitted(function: F) -> F:
    """Compile a function on its first call, and keep its machine code on disk where that is possible.

    Examples
    --------
    >>> jitted(lambda x: 2 * x)(21)
    42
    """
    with contextlib.suppress(RuntimeError):  # in a console, or where no file can be written
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
