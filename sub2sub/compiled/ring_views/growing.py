"""Ring views of a population that has grown (`sub2sub.compiled.common.growth`).

Neighbours, stamps and witnesses stay as they are. The peers tried (`sub2sub.compiled.ring_views.pool.TRIED`)
and the depths of the shadow (`sub2sub.compiled.ring_views.shadow`) depend on numbers of peers: they are
cleared and learnt again, which changes no decision. A tombstone moves to the slot of the new number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.ring_views.pool import RingPool, forget_tried, places_of
from sub2sub.compiled.ring_views.shadow import UNKNOWN
from sub2sub.compiled.ring_views.tombstones import slot_of
from sub2sub.peers.ring import NEVER


def grow_pool(pool: RingPool, moved: Renumbering) -> RingPool:
    """The views with the new numbers of all peers."""
    _, at = places_of(pool)
    words = pool.words.copy()
    words[at] = moved.peers(pool.words[at])
    forget_tried(pool._replace(words=words), np.arange(pool.size.size))
    silent, silent_at = grow_tombstones(pool.silent, pool.silent_at, moved)
    return pool._replace(
        start=moved.rows(pool.start, 0), size=moved.rows(pool.size, 0), room=moved.rows(pool.room, 0),
        last_removal=moved.rows(pool.last_removal, NEVER),
        shadow=moved.rows(np.full_like(pool.shadow, UNKNOWN), UNKNOWN),
        asked=moved.rows(np.zeros_like(pool.asked), 0), silent=silent, silent_at=silent_at, words=words,
    )  # fmt: skip


def grow_tombstones(
    silent: NDArray[np.int32], silent_at: NDArray[np.int32], moved: Renumbering
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Tombstones in the slots of the peers' new numbers; of two in one slot the later stays."""
    holder, slot = np.nonzero(silent >= 0)
    order = np.argsort(silent_at[holder, slot], kind="stable")
    holder, slot = holder[order], slot[order]
    peers = moved.peers(silent[holder, slot])
    at = moved.number[holder], np.array([slot_of(x) for x in peers.tolist()], np.int64)
    names, cycles = moved.rows(np.full_like(silent, -1), -1), moved.rows(np.zeros_like(silent_at), 0)
    names[at], cycles[at] = peers, silent_at[holder, slot]
    return names, cycles
