"""Peers at rest: those whose ring views have not changed for a while.

Not in Sub-2-Sub, whose peers exchange links of all kinds in every cycle. The layers below serve to find ring
neighbours; while no peer joins or leaves, they only find the same ones again. So a peer is at rest if its
ring view is not empty and has not changed for `calm` cycles. It begins exchanges of random and proximity
links only in every `calm`-th cycle, and its messages to ring neighbours contain only ring links in the others
(Trickle, RFC 6206, slows gossip down in the same way). It answers other peers as usual, and retries a partner
of CYCLON that did not answer when that is due. Ring exchanges and probes continue in every cycle. As soon as
the ring view changes, the peer is no longer at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.ring_views.pool import SINCE, places_of
from sub2sub.peers.ring import skips_turn

if TYPE_CHECKING:
    from sub2sub.compiled.ring.layer import Ring


def who_skips(ring: Ring, calm: int, cycle: int) -> NDArray[np.bool_]:
    """Whether each peer of a population skips its turn; those without ring neighbours do not."""
    pool = ring.pool
    holders, at = places_of(pool)
    changed = np.where(pool.size > 0, pool.last_removal, cycle)
    np.maximum.at(changed, holders, pool.words[at + SINCE * pool.room[holders].astype(np.int64)])
    skips: NDArray[np.bool_] = skips_turn(cycle - changed, calm, cycle + np.arange(changed.size))
    return skips
