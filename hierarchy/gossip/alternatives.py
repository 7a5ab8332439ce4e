"""The alternatives that CAMCAST is compared with (Section 4.2), as tables for its dissemination kernel.

With uniform tables within arbitrary groups, CAMCAST's kernel is plain gossip: every process that receives an
event for the first time sends it once to all processes in its tables.

(a) Gossip broadcast (Kermarrec, Massoulié, Ganesh, TPDS 2003): a process keeps ln n + c processes of the
whole system, independent of interests. All processes receive all events; most receptions are parasites.

(b) Gossip multicast (Section 3.1, too): each topic has a group. A subscriber of a topic joins its group and
the groups of all subtopics, and keeps ln G + c members of each, where G is the size of the group. An event is
gossiped only in the group of its topic. There are no parasites, but a subscriber of the root keeps a table
for every topic. Interpretation: the paper takes N_t, the subscribers of t itself, as the size of the group of
t, and sums over all levels. Here the group of t contains the subscribers of t and of its supertopics, as in
the prose.

(c) Hierarchical gossip broadcast (Kermarrec et al., TPDS 2003): the system is split into C groups of about m
processes, independent of interests. A process keeps ln m + c1 processes of its group and ln C + c2 processes
that represent other groups. Tables are smaller than with (a), but there are as many parasites.
Interpretation: the representatives in a table are from different groups, each a random member of its group.
"""

from __future__ import annotations

from math import floor, log

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities, grouped, places_in
from hierarchy.camcast.settings import Parameters
from hierarchy.compiled.camcast.sampling import draw_others
from hierarchy.compiled.camcast.tables import Tables, fill_topic_tables
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("gossip tables")


def fanout(n: int, c: float) -> int:
    """Targets of a process among n: the floor of ln n + c, at least one (see `hierarchy.camcast.settings`).

    Examples
    --------
    >>> fanout(1110, 5)
    12
    """
    if n < 1 or c < 0:
        raise InputError(f"n, c: expected a group of at least 1 and c not below 0, got {n} and {c}")
    return max(1, floor(log(n) + c))


def flat_parameters(topics: int, targets: int, inter: bool = False) -> Parameters:
    """The same fan-out for every topic; the super-topic table is used always (`inter`) or never."""
    always = np.full(topics, float(inter))
    return Parameters(np.full(topics, targets, np.int32), always, always)


def group_tables(
    group: NDArray[np.int32], table_size: NDArray[np.int32], seed: int, run: int
) -> NDArray[np.int32]:
    """Draw for each process `table_size[group]` others of its group.

    Examples
    --------
    >>> group_tables(np.array([0, 0, 1, 1], np.int32), np.array([1, 0], np.int32), seed=1, run=0).tolist()
    [[1], [0], [-1], [-1]]
    """
    start, members = grouped(group, len(table_size))
    table = np.full((len(group), max(1, int(table_size.max()))), -1, np.int32)
    key = cycle_key(seed, STREAM, run)
    fill_topic_tables(group, start, members, places_in(members), table_size, key, table)
    return table


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


class HierarchicalBroadcast:
    """Tables of a two-level gossip broadcast; `disseminate` runs it.

    Parameters
    ----------
    communities : Communities
        The members; tables do not depend on their topics.
    groups : int
        Number of groups, C.
    c1, c2 : float
        Targets beyond ln m within a group, and beyond ln C among the groups.

    Examples
    --------
    >>> from hierarchy.camcast import disseminate
    >>> gossip = HierarchicalBroadcast(Communities.chain(10, 100, 1000), groups=30)
    >>> gossip.intra, gossip.inter
    (8, 8)
    >>> spread = disseminate(gossip.tables(".", seed=1), gossip.parameters("."), publisher=0, seed=1)
    >>> spread.delivered
    array([  10,  100, 1000])
    """

    def __init__(self, communities: Communities, groups: int, c1: float = 5.0, c2: float = 5.0) -> None:
        n = len(communities)
        if not 1 <= groups <= n:
            raise InputError(f"groups: expected a number from 1 to the {n} members, got {groups}")
        self.communities = communities
        self.groups = groups
        self.intra = fanout(-(-n // groups), c1)
        self.inter = fanout(groups, c2)

    def tables(self, topic: str | int, seed: int, run: int = 0) -> Tables:
        """Divide the members into groups and draw the tables, the same for every topic."""
        n = len(self.communities)
        key = cycle_key(seed, STREAM, run)
        group = _divide(n, self.groups, peer_key(key, -2))
        table = group_tables(group, np.full(self.groups, self.intra, np.int32), seed, run)
        others = np.full((n, 1, self.inter), -1, np.int32)
        _fill_representatives(group, *grouped(group, self.groups), np.uint64(peer_key(key, -3)), others)
        return Tables(self.communities.topic, table, others)

    def parameters(self, topic: str | int) -> Parameters:
        """The parameters of the dissemination kernel."""
        return flat_parameters(self.communities.tree.capacity, self.intra, inter=True)

    def memory(self) -> NDArray[np.int64]:
        """Table entries of each member."""
        n = len(self.communities)
        entries = min(self.intra, n // self.groups - 1) + min(self.inter, self.groups - 1)
        return np.full(n, entries, np.int64)


def _divide(n: int, groups: int, key: int) -> NDArray[np.int32]:
    """Assign n processes to random groups whose sizes differ by at most one."""
    order = np.empty(n, np.int64)
    _shuffle(np.uint64(key), order)
    group = np.empty(n, np.int32)
    group[order] = np.arange(n) % groups
    return group


@kernel
def _shuffle(key, order):
    for i in range(len(order)):
        order[i] = i
    for i in range(len(order) - 1, 0, -1):
        j = below(draw(key, i), i + 1)
        order[i], order[j] = order[j], order[i]


@kernel
def _fill_representatives(group, start, members, key, others):
    numbers = np.arange(len(start) - 1)
    for member in range(len(group)):
        draws = peer_key(key, member)
        row = others[member, 0]
        k = draw_others(numbers, group[member], draws, np.int64(0), row)
        for i in range(len(row)):
            if row[i] >= 0:
                size = start[row[i] + 1] - start[row[i]]
                row[i] = members[start[row[i]] + below(draw(draws, k), size)]
                k += 1
