"""Peers at rest: those whose ring views have not changed for a while.

Not in Sub-2-Sub, whose peers exchange links of all kinds in every cycle for ever. The layers below are there
to find ring neighbours; once nobody new is found and nobody goes, they find the same again and again. So a
peer that has ring neighbours, and none of them new and none gone for `calm` cycles, begins exchanges of
random and proximity links only in every `calm`-th cycle, as gossip slows down where all agree in Trickle
(RFC 6206), and tells ring neighbours of its ring links only in the others. It answers others as ever, and
shuffles with a partner that did not answer whenever that is due. Ring exchanges and probes of neighbours that
nobody has heard from go on in every cycle; what they find out, or others tell, changes the ring view, and
then the peer is at rest no longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.ring.pool import SINCE, places_of

if TYPE_CHECKING:
    from sub2sub.ring.layer import Ring


def skips_turn(cycles: Any, calm: int, turn: Any) -> Any:
    """Whether a peer lets its turn pass, so many `cycles` after the last change of its ring view.

    Examples
    --------
    >>> [skips_turn(cycles, calm=4, turn=cycles) for cycles in range(2, 9)]
    [False, False, False, True, True, True, False]
    """
    return (calm > 0) & (cycles >= calm) & (turn % max(calm, 1) != 0)


def who_skips(ring: Ring, calm: int, cycle: int) -> NDArray[np.bool_]:
    """The same of all peers of a population; those without ring neighbours let no turn pass."""
    pool = ring.pool
    holders, at = places_of(pool)
    changed = np.where(pool.size > 0, pool.last_removal, cycle)
    np.maximum.at(changed, holders, pool.words[at + SINCE * pool.room[holders].astype(np.int64)])
    skips: NDArray[np.bool_] = skips_turn(cycle - changed, calm, cycle + np.arange(changed.size))
    return skips
