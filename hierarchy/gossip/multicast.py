"""Alternative (b): gossip multicast, one table per topic (CAMCAST, Sections 3.1 and 4.2).

Each topic has a group. A subscriber of a topic joins its group and the groups of all subtopics, and keeps
ln G + c members of each, where G is the size of the group. An event is gossiped only in the group of its
topic. There are no parasites, but a subscriber of the root keeps a table for every topic.

Interpretation: the paper takes N_t, the subscribers of t itself, as the size of the group of t, and sums over
all levels. Here the group of t contains the subscribers of t and of its supertopics, as in the prose.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from hierarchy.gossip.groups import fanout, flat_parameters, group_tables


class GossipMulticast:
    """Tables of a gossip multicast; `disseminate` runs it.

    Examples
    --------
    >>> from hierarchy.camcast import disseminate
    >>> group = Communities.chain(10, 100, 1000)
    >>> gossip = GossipMulticast(group, c=5)
    >>> gossip.group_size(".t1"), gossip.memory()[:: 200].tolist()
    (110, [28, 12, 12, 12, 12, 12])
    >>> spread = disseminate(gossip.tables(".t1", seed=1), gossip.parameters(".t1"), 10, seed=1)
    >>> spread.delivered, spread.parasites(group, ".t1")
    (array([ 10, 100,   0]), 0)
    """

    def __init__(self, communities: Communities, c: float = 5.0) -> None:
        self.communities = communities
        self.c = c

    def group_size(self, topic: str | int) -> int:
        """Members of the group of a topic: those of the topic and of all its supertopics."""
        return int(self.communities.interested(topic).sum())

    def tables(self, topic: str | int, seed: int, run: int = 0) -> Tables:
        """Draw the tables of the group of `topic`, independent of those of other topics."""
        outside = (~self.communities.interested(topic)).astype(np.int32)
        sizes = np.array([fanout(self.group_size(topic), self.c), 0], np.int32)
        per_topic = run * self.communities.tree.capacity + self.communities.tree.number(topic)
        table = group_tables(outside, sizes, seed, per_topic)
        return Tables(self.communities.topic, table, np.full((len(table), 1, 1), -1, np.int32))

    def parameters(self, topic: str | int) -> Parameters:
        """The parameters of the dissemination kernel."""
        return flat_parameters(self.communities.tree.capacity, fanout(self.group_size(topic), self.c))

    def memory(self) -> NDArray[np.int64]:
        """Table entries of each member, in all of its groups."""
        tree = self.communities.tree
        entries = np.zeros(len(self.communities), np.int64)
        for topic in tree:
            size = self.group_size(topic)
            if size:
                entries[self.communities.interested(topic)] += min(fanout(size, self.c), size - 1)
        return entries
