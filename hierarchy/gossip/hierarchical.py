"""Alternative (c): hierarchical gossip broadcast (CAMCAST, Section 4.2; Kermarrec et al., TPDS 2003).

The system is split into C groups of about m processes, independent of interests. A process keeps
ln m + c1 processes of its group and ln C + c2 processes that represent other groups, and gossips every
event once to all of them. Tables are smaller than with (a), but there are as many parasites.

Interpretation: the representatives in a table are from different groups, each a random member of its group.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities, grouped
from hierarchy.camcast.sampling import draw_others
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from hierarchy.gossip.groups import STREAM, fanout, flat_parameters, group_tables
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key


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
        own = peer_key(key, member)
        row = others[member, 0]
        k = draw_others(numbers, group[member], own, np.int64(0), row)
        for i in range(len(row)):
            if row[i] >= 0:
                size = start[row[i] + 1] - start[row[i]]
                row[i] = members[start[row[i]] + below(draw(own, k), size)]
                k += 1
