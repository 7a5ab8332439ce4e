"""Super-topic tables as a layer: found, checked, refilled and passed on.

CAMCAST, Sections 3.3 and 3.4, Figure 6. KEEP_TABLE_UPDATED, each cycle, for every member: entries of an empty
table are searched; another table is checked with probability p_sel, and if at most tau entries are alive
these are asked for others of their community. A changed table is sent with the next membership update to the
members of the owner's topic table, which check their own table and merge it. So a change spreads as long as
it changes other tables.

Interpretations
---------------
- As in dissemination, p_sel is the probability of a check, not of skipping it.
- An entry that does not answer a check is asked again, up to `tries` times in all. If one lost message were
  enough to drop it, tables would change all the time, and updates would never end.
- A search for a nearer community never ends if there is none. So each member takes part in it only with
  probability p_sel at each timeout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings, for_topics, link_probabilities
from hierarchy.compiled.common.channel import WORD, Sent, channel_of
from hierarchy.compiled.super_tables.rules import MemberTables, Search, State
from hierarchy.compiled.super_tables.slots import chains_of, slots_of
from hierarchy.compiled.super_tables.steps import (
    Limits,
    adopt,
    deactivate,
    due_requests,
    keep_updated,
    pass_on,
    take_found,
)
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable, table_links
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("camcast upkeep")


class Finder(Protocol):
    """Finds members of super-communities: by flooding, from gateways, in a structured overlay."""

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Serve requests; returns a row of candidates for each, padded with -1, and the message count."""


class SuperTables(LayerBase):
    """Super-topic tables of all members.

    Parameters
    ----------
    tree : TopicTree
        The hierarchy.
    topic : (n,) array
        Community of each current or future member.
    finder : Finder
        Finds contacts.
    topic_tables : callable
        Returns the current topic tables, (n, k) int32.
    settings : Settings, optional
        z, tau, g and p_sel, of all topics or of each.
    timeout : int
        Cycles between two requests of a search.
    sizes : callable, optional
        Returns each member's estimate of the size of its community, (n,); the true sizes by default.
    tries : int
        How many times an entry is asked in a check before it is dropped.
    """

    name = "super tables"
    saved = ("state", "joined")

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        finder: Finder,
        topic_tables: Callable[[], NDArray[np.int32]],
        seed: int,
        settings: Settings | None = None,
        timeout: int = 3,
        sizes: Callable[[], NDArray[np.float64]] | None = None,
        tries: int = 3,
    ) -> None:
        self.tree, self.finder, self.topic_tables = tree, finder, topic_tables
        self.seed, self.timeout, self.sizes, self.tries = seed, timeout, sizes, tries
        self.settings = settings
        self.slots = slots_of(tree)
        self._resolve()
        topics = np.asarray(topic, np.int32)
        n, most = len(topics), self.slots.most
        self.state = State(
            topics,
            np.full((n, most, int(self._z.max())), -1, np.int32),
            np.zeros((n, most), np.int32),
            np.zeros((n, most), np.int32),
            np.zeros((n, most), np.uint8),
        )
        self.joined = np.zeros(n, np.uint8)
        self.sent: Sent = ()

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables, except for a contact (-1: none) of a supertopic."""
        peers = np.asarray(peers, np.int64)
        self._clear(peers)
        self.joined[peers] = 1
        self.state.due[peers] = cycle
        adopt(self.state, self.slots, peers, np.asarray(contacts, np.int64), self._z)

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Delete the tables of `peers`."""
        peers = np.asarray(peers, np.int64)
        self._clear(peers)
        self.joined[peers] = 0

    def topics_changed(self) -> None:
        """Update the tables after topics or further parents were added to the tree.

        Members whose supertopics have changed search for all their tables again.
        """
        old, self.slots = self.slots, slots_of(self.tree)
        self._resolve()
        s, more = self.state, self.slots.most - self.state.table.shape[1]
        if more > 0:
            wider = ((0, 0), (0, more))
            table = np.pad(s.table, (*wider, (0, 0)), constant_values=-1)
            others = {name: np.pad(getattr(s, name), wider) for name in ("scope", "due", "fresh")}
            self.state = s = s._replace(table=table, **others)
        known = len(old.first) - 1
        moved = [t for t in range(known) if chains_of(old, t) != chains_of(self.slots, t)]
        self._clear(np.flatnonzero(np.isin(s.topic, moved)))

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Pass on changed tables, check and refill tables, search for empty ones."""
        s = self.state
        key = cycle_key(self.seed, STREAM, cycle)
        channel = channel_of(network)
        present = network.alive * self.joined
        tables = MemberTables(s, self.slots, self.topic_tables())
        p_sel = self._p_sel(present)
        deactivate(s, self.slots)
        limits = Limits(self._z, self._tau, self.tries)
        updates = pass_on(tables, limits, present, channel, key)
        asking = channel.afresh()
        checks = keep_updated(tables, limits, p_sel, present, asking, key)
        requests = due_requests(s, self.slots, p_sel, present, cycle, key)
        search = Search(tables, requests, s.table.shape[2], cycle, self.seed, channel)
        candidates, searches = self.finder.find(search)
        take_found(s, self.slots, requests, candidates, self._z, cycle, self.timeout)
        self.sent = (channel.sent, WORD * (1 + s.table.shape[2])), (asking.sent, 2 * WORD)
        return {
            "messages": updates + checks + searches,
            "failed": int(channel.failed[0]),
            "bytes": WORD * ((updates + searches) * (1 + s.table.shape[2]) + 2 * checks),
            "updates": updates,
            "checks": checks,
            "searches": searches,
        }

    def ready(self) -> NDArray[np.bool_]:
        """Which members may publish (CAMCAST, Section 5.1): tables are filled, or searched to the root."""
        s, slots = self.state, self.slots
        ready = np.ones(len(s.topic), bool)
        for place in range(slots.most):
            slot = slots.first[s.topic] + place
            members = np.flatnonzero(slot < slots.first[s.topic + 1])
            slot = slot[members]
            whole = slots.start[slot + 1] - slots.start[slot]
            done = (s.table[members, place, 0] >= 0) | (s.scope[members, place] >= whole)
            below = slots.after[slot]
            above = (below >= 0) & (
                s.table[members, np.maximum(below - slots.first[s.topic[members]], 0), 0] >= 0
            )
            ready[members[~(done | above)]] = False  # a branch above a chain with members is not in use
        return ready

    def links(self) -> LinkTable:
        """All entries as (holders, members, stamps of 0)."""
        return table_links(self.state.table)

    def _clear(self, peers: NDArray[np.int64]) -> None:
        s = self.state
        s.table[peers], s.scope[peers], s.due[peers], s.fresh[peers] = -1, 0, 0, 0

    def _p_sel(self, present: NDArray[np.uint8]) -> NDArray[np.float64]:
        """p_sel of each member, from its estimate of the size of its community."""
        topic = self.state.topic
        if self.sizes is None:
            sizes = np.bincount(topic[present == 1], minlength=self.tree.capacity)[topic].astype(float)
        else:
            sizes = self.sizes()
        return link_probabilities(sizes, topic, self._by_topic)

    def _resolve(self) -> None:
        self._by_topic = for_topics(self.settings, self.tree.capacity, self.tree)
        self._z = np.array([settings.z for settings in self._by_topic], np.int64)
        self._tau = np.array([settings.tau for settings in self._by_topic], np.int64)
