"""Kernels: how loops are compiled, how they draw random numbers, and their vector type.

Nothing here knows a protocol.

Kernels change numba from within (`compilers`, `callees`, `references`, `compile_time`), which another version
of numba may break. So one that is not named here, and in `pyproject.toml`, is refused in one line.
"""

from __future__ import annotations

import numba

FIRST_NUMBA, LAST_NUMBA = (0, 62), (0, 68)


def check_numba(version: str) -> None:
    """Refuse a version of numba that kernels are not made for.

    Examples
    --------
    >>> check_numba("0.68.1")
    >>> check_numba("0.69.0")
    Traceback (most recent call last):
    ImportError: numba: expected a version from 0.62 to 0.68, got 0.69.0
    """
    found = tuple(int(number) for number in version.split(".")[:2])
    if not FIRST_NUMBA <= found <= LAST_NUMBA:
        first, last = (".".join(map(str, each)) for each in (FIRST_NUMBA, LAST_NUMBA))
        raise ImportError(f"numba: expected a version from {first} to {last}, got {version}")


check_numba(numba.__version__)
