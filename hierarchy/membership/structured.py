"""The structured membership: both tables come from searches in a P-Grid (CAMCAST, Section 5.2.3).

Every `REFRESH` cycles each member searches the P-Grid for ln N + c members of its community and z members of
the nearest supertopic that has members. N is the number of members that the answering peer knows, so members
need not know the size.

Not in the paper: one of the ln N + c is the next member in the order of numbers, the first one after the
last. With random entries alone, some member is in no table until the next search with probability of about
e^-c. The next members form a ring, so the community is strongly connected as long as the P-Grid knows all of
it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings, for_topics
from hierarchy.compiled.camcast.tables import Tables
from hierarchy.compiled.common.channel import WORD, Channel, channel_of
from hierarchy.compiled.common.rows import named
from hierarchy.compiled.pgrid.layer import PGrid
from hierarchy.compiled.super_tables.slots import slots_of
from hierarchy.peers.settings import PGridSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable, table_links

REFRESH = 10  # cycles between two searches of a member; the paper makes it depend on the rate of changes


class Structured(LayerBase):
    """Topic and super-topic tables drawn uniformly from the members that a P-Grid knows.

    Parameters
    ----------
    tree, topic, seed, settings, true_sizes
        As of `Unstructured`.
    ring : bool
        Whether topic tables contain the next member; in the paper all entries are random.

    Examples
    --------
    >>> from hierarchy.camcast import Communities
    >>> group = Communities.chain(7, 28, 79)
    >>> membership, network = Structured(group.tree, group.topic, seed=1), Network.whole(114)
    >>> membership.join(np.arange(114), np.full(114, -1), cycle=0)
    >>> for cycle in range(30):
    ...     cost = membership.step(cycle, network)
    >>> (membership.tables().topic_table >= 0).sum(axis=1)[[0, 50]].tolist()  # of 7 and of 79
    [6, 9]
    """

    name = "structured"
    saved = ("pgrid", "topic_table", "super_table", "known", "searched")
    cycles_to_join = 1

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        pgrid: PGridSettings | None = None,
        true_sizes: bool = False,
        ring: bool = True,
    ) -> None:
        self.topic = np.asarray(topic, np.int32)
        self.settings, self.true_sizes = settings, true_sizes
        self.pgrid = PGrid(tree, self.topic, seed, pgrid)
        self.slots, self.ring = slots_of(tree), ring
        n, by_topic = len(self.topic), for_topics(settings, tree.capacity, tree)
        self.topic_table = np.full((n, max(s.table_size(n) for s in by_topic)), -1, np.int32)
        self.super_table = np.full((n, self.slots.most, max(s.z for s in by_topic)), -1, np.int32)
        self.known = np.ones(n)  # members of the own community, as the last search found
        self.searched = np.zeros(n, bool)  # members whose search reached where its key belongs

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables; contacts are peers of the P-Grid (-1: ask its gateways)."""
        self.pgrid.join(peers, contacts, cycle)
        self._clear(np.asarray(peers, np.int64))

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Remove `peers` from the P-Grid."""
        self.pgrid.leave(peers, cycle)
        self._clear(np.asarray(peers, np.int64))

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Step the P-Grid, then search for the members whose tables are due or empty."""
        overlay = self.pgrid.step(cycle, network)
        channel = channel_of(network)
        members = np.arange(len(self.topic))
        present = (network.alive == 1) & (self.pgrid.announce_in >= 0)
        due = np.flatnonzero(present & (((members + cycle) % REFRESH == 0) | (self.topic_table[:, 0] < 0)))
        wanted = self.topic_table.shape[1]
        answers = self.pgrid.search(due, self.topic[due], wanted, cycle, channel)
        by_topic = for_topics(self.settings, self.pgrid.tree.capacity, self.pgrid.tree)
        sizes = np.array(
            [by_topic[t].table_size(int(n)) for t, n in zip(self.topic[due], answers.known, strict=True)],
            np.int64,
        )
        members = np.where(np.arange(wanted) < sizes[:, None], answers.members, -1)
        if self.ring:
            left_out = (answers.following >= 0) & np.all(members != answers.following[:, None], axis=1)
            members[left_out, sizes[left_out] - 1] = answers.following[left_out]
        known = answers.known > 0
        self.topic_table[due[known]] = members[known]
        self.known[due[known]] = answers.known[known]
        self.searched[due[known]] = True
        messages = int(answers.messages.sum()) + len(due)
        z = np.array([s.z for s in by_topic])[self.topic[due]]
        for slot in range(self.slots.most):
            messages += self._search_supers(slot, due, z, cycle, channel)
        return {
            "messages": overlay["messages"] + messages,
            "failed": overlay["failed"] + int(channel.failed[0]),
            "bytes": overlay["bytes"] + 3 * WORD * messages,
            "overlay": overlay["messages"],
            "searches": messages,
        }

    def sizes(self) -> NDArray[np.float64]:
        """Each member's estimate of the size of its community, from its last search."""
        return self.known.copy()

    def inside(self) -> NDArray[np.bool_]:
        """Which members are in their communities: those that have completed a search."""
        return self.searched.copy()

    def ready(self) -> NDArray[np.bool_]:
        """Which members may publish: those that have completed a search."""
        return self.searched.copy()

    def topics_changed(self) -> None:
        """Update the state after topics or further parents were added; tables change when they are due."""
        self.slots = slots_of(self.pgrid.tree)
        more = self.slots.most - self.super_table.shape[1]
        if more > 0:
            self.super_table = np.pad(self.super_table, ((0, 0), (0, more), (0, 0)), constant_values=-1)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        live = alive == 1
        mentioned = named(len(alive), self.topic_table[live], self.super_table[live])
        return self.pgrid.referenced(alive) | mentioned

    def tables(self) -> Tables:
        """The tables from the last searches."""
        return Tables(self.topic, self.topic_table, self.super_table)

    def links(self) -> LinkTable:
        """The tables from the last searches, as (holders, members, stamps of 0)."""
        return table_links(self.topic_table, self.super_table)

    def _clear(self, peers: NDArray[np.int64]) -> None:
        self.topic_table[peers] = -1
        self.super_table[peers] = -1
        self.known[peers], self.searched[peers] = 1, False

    def _search_supers(
        self,
        slot: int,
        due: NDArray[np.int64],
        z: NDArray[np.int64],
        cycle: int,
        channel: Channel,
    ) -> int:
        """Fill one super-topic table of each member: search up its chain until a supertopic has members."""
        s = self.slots
        numbers = s.first[self.topic[due]] + slot
        exists = numbers < s.first[self.topic[due] + 1]
        due, numbers, z = due[exists], numbers[exists], z[exists]
        # A branch above a chain is searched only if the chain has no member.
        below = s.after[numbers]
        chain_table = np.maximum(below - s.first[self.topic[due]], 0)
        blocked = (below >= 0) & (self.super_table[due, chain_table, 0] >= 0)
        self.super_table[due[blocked], slot] = -1
        due, numbers, z = due[~blocked], numbers[~blocked], z[~blocked]
        most, scope = self.super_table.shape[2], s.start[numbers + 1] - s.start[numbers]
        members, messages = self.pgrid.search_up(
            due, s.chain, s.start[numbers], scope, most, cycle, channel, 1 + slot * 1000
        )
        kept = members[:, 0] >= 0
        members[np.arange(most) >= z[:, None]] = -1
        self.super_table[due[kept], slot] = members[kept]
        return messages
