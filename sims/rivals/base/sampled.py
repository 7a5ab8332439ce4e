"""Gossip tables kept by CYCLON: one random view for each membership, within disjoint groups.

The gossip protocols that CAMCAST is compared with need, for each of their tables, a service that fills it
with random members of a group and keeps it filled. CYCLON is the cheapest such service here: two messages a
cycle and membership, whatever the size of the group. A member joins through a contact in its group, so groups
stay apart.

CYCLON removes the link to a partner after each exchange, even if the view has room. In a group smaller than a
view links would be lost for no reason. So a member whose view has room also keeps the members it knew
recently (`Kept`). This costs no messages.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sims.rivals.base.groups import earlier_members
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.common.views import FREE, LinkTable, peer_of
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack
from sub2sub.peers.descriptors import HEADER, NAME
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import CyclonSettings

VIEW = 20
LATELY = 10  # cycles that a member is kept after it left the view
STREAM = stream_number("compare/sampled")


class Kept(LayerBase):
    """Members that each member knew recently, as many as its view has room for.

    Attributes
    ----------
    peer, seen : (members, VIEW) int32
        The members, packed to the left and padded with -1, and the cycle in which the view last had each.
    """

    name, saved = "kept", ("peer", "seen")

    def __init__(self, cyclon: Cyclon) -> None:
        self.cyclon = cyclon
        self.peer = np.full((len(cyclon.size), VIEW), -1, np.int32)
        self.seen = np.zeros_like(self.peer)

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Add the entries of the views, and drop those not seen for some time."""
        _keep(self.cyclon.view, network.alive, cycle, self.peer, self.seen)
        return {"messages": 0, "failed": 0, "bytes": 0}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle, by member: none."""
        return np.zeros(len(self.peer), np.int64), np.zeros(len(self.peer), np.int64)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Drop all entries."""
        self.peer[peers] = -1

    def links(self) -> LinkTable:
        """Those kept, with the cycle in which the view last had them."""
        holders, places = np.nonzero(self.peer >= 0)
        peers, seen = self.peer[holders, places], self.seen[holders, places]
        return holders, peers.astype(np.int64), seen.astype(np.int64)


@kernel
def _keep(view, alive, cycle, kept, seen):
    """The view first, then others seen lately, the last seen first, up to the size of a view."""
    room = kept.shape[1]
    old, when = np.empty(room, np.int32), np.empty(room, np.int32)
    for member in range(kept.shape[0]):
        if alive[member] == 0:
            continue
        old[:], when[:] = kept[member], seen[member]
        count = np.int64(0)
        for k in range(room):
            if view[member, k] != FREE:
                kept[member, count], seen[member, count] = peer_of(view[member, k]), cycle
                count += 1
        now = count
        for k in range(room):
            if count == room or old[k] < 0 or when[k] < cycle - LATELY:
                break
            held = False
            for j in range(now):
                held |= kept[member, j] == old[k]
            if not held:
                kept[member, count], seen[member, count] = old[k], when[k]
                count += 1
        kept[member, count:] = -1


class Sampled(Stack):
    """Random views of all members, each within its group.

    CYCLON does not use the closed ranges (lows, highs) of the members' subscriptions. `hosts` are the
    subscribers that members belong to; there are places for newcomers only if all members are in one group.

    Examples
    --------
    >>> group = np.array([0] * 30 + [1] * 5)
    >>> views = Sampled(np.zeros((35, 1)), np.ones((35, 1)), np.arange(35), group, seed=1)
    >>> views.bootstrap()
    >>> costs = [views.step(cycle) for cycle in range(1, 30)]
    >>> table = views.table()
    >>> table.shape, bool((table[:30] < 30).all()), views.sizes()[30:].tolist()
    ((35, 20), True, [4, 4, 4, 4, 4])
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
        population = Population.of(lows, highs, np.arange(len(hosts)), hosts, spare, seed)
        self.cyclon = Cyclon(len(population), CyclonSettings(view=VIEW, retry=10, tries=3), seed)
        self.kept = Kept(self.cyclon)
        super().__init__(population, (self.cyclon, self.kept), seed)
        self.group, self.asked = group, 0

    def bootstrap(self, cycle: int = 0) -> None:
        """Let all members join, each through a random earlier member of its group."""
        n, key = len(self.group), cycle_key(self.seed, STREAM, 0)
        marks, bits = draws(key, np.arange(n)), draws(key, np.arange(n), 1)
        contacts = earlier_members(self.group, marks, bits)
        self.asked += 2 * n
        super().admit(np.arange(n), contacts, cycle)

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let newcomers join; only for one group, because faults do not handle several memberships."""
        if self.group.any():
            raise InputError("join: expected a system with one membership a subscriber")
        self.asked += 2 * len(peers)
        super().admit(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """Let every member shuffle once; newcomers also pay for asking for a contact."""
        costs = super().step(cycle)
        cost, asked, self.asked = costs[self.cyclon.name], self.asked, 0
        size = cost["bytes"] + (HEADER + NAME) * asked
        return {**costs, self.cyclon.name: {**cost, "messages": cost["messages"] + asked, "bytes": size}}

    def table(self) -> NDArray[np.int32]:
        """Entries of each member, (members, VIEW), packed to the left and padded with -1."""
        return self.kept.peer

    def sizes(self) -> NDArray[np.int64]:
        """Number of entries of each member."""
        sizes: NDArray[np.int64] = (self.kept.peer >= 0).sum(axis=1)
        return sizes
