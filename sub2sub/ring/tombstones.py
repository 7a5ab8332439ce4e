"""Tombstones: peers that did not answer, and when, so that stale links to them are refused.

Not in Sub-2-Sub. A peer that finds a neighbour or a candidate silent drops it, and would be offered it again
by the next partner that has not noticed. So it remembers the cycle, and refuses links to that peer which are
no younger. A link carries when its peer was last heard from by anybody: one that was silent because messages
were lost, or that has come back, is heard from again, and younger links to it are welcome.

A peer has few tombstones, each in the slot that the silent one's number gives; a newer one takes the place
of an older. What is forgotten too early costs a few messages more.
"""

from __future__ import annotations

from sub2sub.kernels.compilation import rule
from sub2sub.ring.pool import SPREAD

TOMBSTONES = 16


@rule
def slot_of(x):
    """The slot for a peer."""
    return (((x * SPREAD) & 0xFFFFFFFF) * TOMBSTONES) >> 32


@rule
def set_tombstone(pool, t, x, cycle):
    """Note that x did not answer t."""
    slot = slot_of(x)
    pool.silent[t, slot], pool.silent_at[t, slot] = x, cycle


@rule
def clear_tombstone(pool, t, x):
    """Note that x has answered t after all."""
    slot = slot_of(x)
    if pool.silent[t, slot] == x:
        pool.silent[t, slot] = -1


@rule
def is_outdated(pool, t, x, stamp):
    """Whether t has found x silent since it was last heard from, as far as a link with this stamp tells."""
    slot = slot_of(x)
    return pool.silent[t, slot] == x and stamp <= pool.silent_at[t, slot]
