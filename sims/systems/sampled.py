"""Gossip tables kept by CYCLON: one random view for each membership, within disjoint groups.

The gossip protocols that CAMCAST is compared with need, for each of their tables, a service that fills it
with random members of a group and keeps it filled. CYCLON is the cheapest such service here: two messages a
cycle and membership, whatever the size of the group. Members of a group meet through a contact named when
they join, and never hear of other groups.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.errors import InputError
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.population import Population
from sub2sub.overlay.sizes import HEADER, NAME
from sub2sub.overlay.stack import Stack
from sub2sub.overlay.views import FREE

__all__ = ["VIEW", "Sampled"]

VIEW = 20
STREAM = stream_number("compare/sampled")


class Sampled(Stack):
    """Random views of all members, each within its group.

    Parameters
    ----------
    lows, highs : (members, d) array_like
        Closed ranges of the members' subscriptions; CYCLON looks at none of them.
    hosts : (members,) int64
        The subscriber each belongs to.
    group : (members,) int64
        Group of each member.
    seed : int
    spare : int
        Room for newcomers, where all are in one group.

    Examples
    --------
    >>> group = np.array([0] * 30 + [1] * 5)
    >>> views = Sampled(np.zeros((35, 1)), np.ones((35, 1)), np.arange(35), group, seed=1)
    >>> views.bootstrap()
    >>> costs = [views.step(cycle) for cycle in range(1, 30)]
    >>> table = views.table()
    >>> table.shape, bool((table[:30] < 30).all()), sorted(set(table[30:].ravel().tolist()))
    ((35, 20), True, [-1, 30, 31, 32, 33, 34])
    """

    def __init__(
        self,
        lows: ArrayLike,
        highs: ArrayLike,
        hosts: NDArray[np.int64],
        group: NDArray[np.int64],
        seed: int,
        spare: int = 0,
    ) -> None:
        people = Population.of(lows, highs, np.arange(len(hosts)), hosts, spare, seed)
        self.cyclon = Cyclon(len(people), CyclonSettings(view=VIEW, retry=10, tries=3), seed)
        super().__init__(people, (self.cyclon,), seed)
        self.group, self.asked = group, 0

    def bootstrap(self, cycle: int = 0) -> None:
        """Let everybody in, each but the first of its group through a random one of it who came before."""
        group = self.group
        n = len(group)
        key = cycle_key(self.seed, STREAM, 0)
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
        self.asked += 2 * n
        super().join(np.arange(n), contacts, cycle)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let newcomers in, where there is one group only: no fault knows of several memberships."""
        if self.group.any():
            raise InputError("join: expected a system with one membership a subscriber")
        self.asked += 2 * len(peers)
        super().join(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """One shuffle of every member, and what those who joined before it asked for a contact."""
        (cost,) = super().step(cycle).values()
        asked, self.asked = self.asked, 0
        size = cost["bytes"] + (HEADER + NAME) * asked
        return {self.cyclon.name: {**cost, "messages": cost["messages"] + asked, "bytes": size}}

    def table(self) -> NDArray[np.int32]:
        """The views as tables of members, padded with -1."""
        view = self.cyclon.view[:, :VIEW]
        packed = np.where(view == FREE, -1, view & 0xFFFFFFFF).astype(np.int32)
        return np.take_along_axis(packed, np.argsort(packed < 0, axis=1, kind="stable"), axis=1)
