"""Gossip tables kept by CYCLON: one random view for each membership, within disjoint groups.

The gossip protocols that CAMCAST is compared with need, for each of their tables, a service that fills it
with random members of a group and keeps it filled. CYCLON is the cheapest such service here: two messages a
cycle and membership, whatever the size of the group. Members of a group meet through a contact named when
they join, and never hear of other groups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.system import HEADER, Traffic
from sub2sub.cyclon.layer import Cyclon
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.network import Network
from sub2sub.overlay.views import FREE

__all__ = ["VIEW", "Sampled"]

VIEW = 20
STREAM = stream_number("compare/sampled")
CONTACT = 8  # bytes of a name


class Sampled:
    """Random views of all members, each within its group.

    Parameters
    ----------
    group : (members,) int64
        Group of each member.
    seed : int

    Examples
    --------
    >>> views = Sampled(np.array([0] * 30 + [1] * 5), seed=1)
    >>> traffic = [views.step(cycle, Network.whole(35)) for cycle in range(1, 30)]
    >>> table = views.table()
    >>> table.shape, bool((table[:30] < 30).all()), sorted(set(table[30:].ravel().tolist()))
    ((35, 20), True, [-1, 30, 31, 32, 33, 34])
    """

    def __init__(self, group: NDArray[np.int64], seed: int) -> None:
        n = len(group)
        self.cyclon = Cyclon(n, CyclonSettings(view=VIEW, retry=10, tries=3), seed)
        key = cycle_key(seed, STREAM, 0)
        marks = draws(key, np.arange(n))
        order = np.lexsort((marks, group))
        first = np.append(True, group[order][1:] != group[order][:-1])
        began = np.maximum.accumulate(np.where(first, np.arange(n), 0))
        before = np.arange(n) - began  # how many of its group joined earlier
        chosen = began + (draws(key, np.arange(n), 1) % np.maximum(before, 1).astype(np.uint64)).astype(
            np.int64
        )
        contacts = np.empty(n, np.int64)
        contacts[order] = np.where(first, -1, order[chosen])
        self.cyclon.join(np.arange(n), contacts, 0)
        self.joins = n

    def step(self, cycle: int, network: Network) -> Traffic:
        """One shuffle of every member; the first time, asking for a contact as well."""
        cost = self.cyclon.step(cycle, network)
        asked, self.joins = 2 * self.joins, 0
        return Traffic(cost["messages"] + asked, cost["bytes"] + (HEADER + CONTACT) * asked)

    def table(self) -> NDArray[np.int32]:
        """The views as tables of members, padded with -1."""
        view = self.cyclon.view[:, :VIEW]
        packed = np.where(view == FREE, -1, view & 0xFFFFFFFF).astype(np.int32)
        return np.take_along_axis(packed, np.argsort(packed < 0, axis=1, kind="stable"), axis=1)
