"""Draws several different members of a community.

Floyd's algorithm (Bentley, Floyd: *A sample of brilliance*, CACM 1987): one draw per element, no scratch
memory. Every subset has the same probability, but not every order, so a part of a sample is not a sample.
If all elements are taken, nothing is drawn.
"""

from __future__ import annotations

from sub2sub.compiled.common.randomness import below, draw
from sub2sub.compiled.machinery.compilation import kernel


@kernel
def draw_places(n, key, k, out):
    """Fill `out` with different numbers below n, as many as fit; return how many, and the next draw."""
    count = min(n, len(out))
    if count == n:
        for i in range(n):
            out[i] = i
        return count, k
    for i in range(count):
        last = n - count + i
        place = below(draw(key, k), last + 1)
        k += 1
        for earlier in range(i):
            if out[earlier] == place:
                place = last
                break
        out[i] = place
    return count, k


@kernel
def draw_some(pool, key, k, out):
    """Fill `out` with different elements of `pool`, as many as fit; return the next draw."""
    count, k = draw_places(len(pool), key, k, out)
    for i in range(count):
        out[i] = pool[out[i]]
    return k


@kernel
def draw_others(pool, own, key, k, out):
    """As `draw_some`, but never the element at place `own`."""
    count, k = draw_places(len(pool) - 1, key, k, out)
    for i in range(count):
        out[i] = pool[out[i] + (out[i] >= own)]
    return k
