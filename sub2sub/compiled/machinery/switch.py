"""Which parts of the compiler's machinery are used: all, unless the environment says otherwise.

With SUB2SUB_PLAIN=1 none is used: numba compiles kernels as it is. SUB2SUB_WITHOUT=references,callees leaves
out the parts that it names; `benchmarks/machinery.py` prints what each is worth. Results are the same.

The vector type (`sub2sub.compiled.machinery.simd`) is used in any case: kernels are written with it. It is an
extension by numba's own interface for extensions, and replaces nothing.
"""

from __future__ import annotations

import os

from sub2sub.errors import InputError

PARTS = {
    "references": "tuples of arrays are passed as one address",
    "callees": "functions that only kernels call are compiled with their callers",
    "indices": "indices count from the beginning only",
    "loops": "loops are neither unrolled nor made into vectors, and optimised once",
    "passes": "numba's passes for closures, whole arrays and the like are left out",
    "compile_time": "signatures are remembered; min and max are two instructions; no garbage collection",
}

PLAIN = os.environ.get("SUB2SUB_PLAIN", "0") not in ("", "0")
WITHOUT = sorted(filter(None, os.environ.get("SUB2SUB_WITHOUT", "").split(",")))


def uses(part: str) -> bool:
    """Whether a part of `PARTS` is used."""
    return not PLAIN and part not in WITHOUT


if unknown := set(WITHOUT) - PARTS.keys():
    raise InputError(f"SUB2SUB_WITHOUT: expected names among {', '.join(PARTS)}, got {unknown.pop()!r}")
