"""Vectors: several numbers as one value, with which kernels compute as they do with numbers.

    meet = (load(lows, start) < high) & (load(highs, start) > low)
    pack(places, count, numbers(start), meet)

numba has no such type; `vector_type`, `vector_memory` and `vector_lanes` teach it one. A vector is 64 bytes
of an array (or fewer items), or as many flags. LLVM makes of it what the processor has: one register with
AVX-512, two with AVX2, four with SSE or NEON. Operators work lane by lane, and a plain number stands for as
many copies of it. When compilation is off, vectors are short NumPy arrays and the same kernels run:
`vector_plain`, where each operation is a line or two, says what it does.

At the end of an array: `load` reads and `store` and `pack` may write a whole vector. So an array needs as
many spare items behind the last one that is used as a vector has lanes; what is read from them has to be
masked out, what is written to them is anything.
"""

from __future__ import annotations

from numba import config

if config.DISABLE_JIT:
    from sub2sub.compiled.machinery.vector_plain import *  # noqa: F403
else:
    from sub2sub.compiled.machinery.vector_lanes import *  # noqa: F403
    from sub2sub.compiled.machinery.vector_memory import *  # noqa: F403
