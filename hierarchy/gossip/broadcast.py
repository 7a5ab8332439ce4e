"""Alternative (a): gossip broadcast (CAMCAST, Section 4.2; Kermarrec, Massoulié, Ganesh, TPDS 2003).

Every process keeps ln n + c processes of the whole system, independent of interests, and gossips every event
once to all of them. All processes receive all events, and most receptions are parasites.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from hierarchy.gossip.groups import fanout, flat_parameters, group_tables


class GossipBroadcast:
    """Tables of a gossip broadcast; `disseminate` runs it.

    Examples
    --------
    >>> from hierarchy.camcast import disseminate
    >>> group = Communities.chain(10, 100, 1000)
    >>> gossip = GossipBroadcast(group, c=5)
    >>> spread = disseminate(gossip.tables(".", seed=1), gossip.parameters("."), publisher=0, seed=1)
    >>> 13_000 < spread.parasites(group, ".") < 13_400  # 12 messages to each of 1100, more or less
    True
    """

    def __init__(self, communities: Communities, c: float = 5.0) -> None:
        self.communities = communities
        self.fanout = fanout(len(communities), c)

    def tables(self, topic: str | int, seed: int, run: int = 0) -> Tables:
        """Draw the tables for an event of `topic`, the same for every topic."""
        n = len(self.communities)
        table = group_tables(np.zeros(n, np.int32), np.array([self.fanout], np.int32), seed, run)
        return Tables(self.communities.topic, table, np.full((n, 1, 1), -1, np.int32))

    def parameters(self, topic: str | int) -> Parameters:
        """The parameters of the dissemination kernel."""
        return flat_parameters(self.communities.tree.capacity, self.fanout)

    def memory(self) -> NDArray[np.int64]:
        """Table entries of each member."""
        return np.full(len(self.communities), min(self.fanout, len(self.communities) - 1), np.int64)
