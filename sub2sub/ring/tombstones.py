"""Tombstones: peers that did not answer, and when, so that stale links to them are refused.

Not in Sub-2-Sub. A peer drops a neighbour or a candidate that does not answer, but the next partner may offer
it again. So the peer remembers the cycle, and refuses links to the silent peer that are no younger. A link
carries the time at which any peer last heard from its peer. If the silent peer was only unreachable, or has
restarted, others hear from it again, and younger links to it are accepted.

A peer has few tombstones, each in a slot determined by the number of the silent peer; a newer one overwrites
an older one. A tombstone that is overwritten too early costs a few messages.
"""

from __future__ import annotations

from sub2sub.kernels.compilation import rule
from sub2sub.ring.pool import SPREAD

TOMBSTONES = 16


@rule
def slot_of(x):
    """The slot of a peer's tombstone."""
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
    """Whether t has a tombstone of x that is not older than a link with this stamp."""
    slot = slot_of(x)
    return pool.silent[t, slot] == x and stamp <= pool.silent_at[t, slot]
