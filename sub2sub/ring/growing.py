"""Ring views of a population that has grown (`sub2sub.overlay.growth`).

Neighbours, stamps and witnesses stay as they are. What peers have tried (`sub2sub.ring.pool.TRIED`) and what
they know to be covered (`sub2sub.ring.shadow`) depends on numbers: it is forgotten and found out anew, which
changes no decision. A tombstone moves to the slot of the new number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.overlay.growth import Renumbering
from sub2sub.ring.pool import RingPool, forget_tried, places_of
from sub2sub.ring.shadow import UNKNOWN
from sub2sub.ring.tombstones import slot_of


def grow_pool(pool: RingPool, moved: Renumbering) -> RingPool:
    """The views with everybody's new number."""
    _, at = places_of(pool)
    words = pool.words.copy()
    words[at] = moved.peers(pool.words[at])
    forget_tried(pool._replace(words=words), np.arange(pool.size.size))
    buried, buried_at = grow_tombstones(pool.buried, pool.buried_at, moved)
    return pool._replace(
        start=moved.rows(pool.start, 0), size=moved.rows(pool.size, 0), room=moved.rows(pool.room, 0),
        forgot=moved.rows(pool.forgot, -1), shadow=moved.rows(np.full_like(pool.shadow, UNKNOWN), UNKNOWN),
        asked=moved.rows(np.zeros_like(pool.asked), 0), buried=buried, buried_at=buried_at, words=words,
    )  # fmt: skip


def grow_tombstones(
    buried: NDArray[np.int32], buried_at: NDArray[np.int32], moved: Renumbering
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Silent peers, and since when, in the slots of their new numbers; of two in one slot the later."""
    holder, slot = np.nonzero(buried >= 0)
    order = np.argsort(buried_at[holder, slot], kind="stable")
    holder, slot = holder[order], slot[order]
    silent, when = moved.peers(buried[holder, slot]), buried_at[holder, slot]
    names, cycles = moved.rows(np.full_like(buried, -1), -1), moved.rows(np.zeros_like(buried_at), 0)
    slots = np.array([slot_of(x) for x in silent.tolist()], np.int64)
    names[moved.number[holder], slots], cycles[moved.number[holder], slots] = silent, when
    return names, cycles
