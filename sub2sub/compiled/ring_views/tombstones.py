"""Tombstones of a population: the rules of `sub2sub.peers.verification.Tombstones`."""

from __future__ import annotations

from sub2sub.compiled.machinery.compilation import rule
from sub2sub.peers.verification import slot_of as plain_slot_of

slot_of = rule(plain_slot_of)


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
