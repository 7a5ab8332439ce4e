"""Common base of the unstructured and the semi-structured membership: SCAMP, census, super-topic tables.

Topic tables are SCAMP's views. Members estimate the size N of their community with a census
(`hierarchy.compiled.census`). From this estimate they compute p_sel and the fan-outs, and they keep views
of (c + 1) ln N entries. In each cycle a few members get a contact from outside their views: a gateway, or a
member found in a P-Grid. They ask it whether both are in the same component of the community, and subscribe
through it if not. A community therefore stays, or becomes again, one component as long as such contacts can
be found. This is the invariant of both memberships.

A member whose request is not answered, or whose view is empty, asks for another contact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.compiled.camcast.tables import Tables
from hierarchy.compiled.census.layer import Census
from hierarchy.compiled.common.channel import WORD, Channel, Sent, channel_of
from hierarchy.compiled.common.rows import named
from hierarchy.compiled.scamp.layer import Scamp
from hierarchy.compiled.super_tables.layer import Finder, SuperTables
from hierarchy.peers.settings import CensusSettings, ScampSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable, table_links


class ScampMembership(LayerBase, ABC):
    """Topic tables by SCAMP, super-topic tables by a finder, sizes by a census.

    Parameters
    ----------
    tree, topic, seed, settings
        As for the memberships `Unstructured` and `SemiStructured`.
    finder : Finder
        Finds super-contacts.
    scamp, census : optional
        Settings of SCAMP and of the census.
    true_sizes : bool
        Whether members know the true sizes of their communities, as the paper assumes. Then there is no
        census, and the functions that need it are off: growing small views, merging parts of a community.
    """

    saved: tuple[str, ...] = ("scamp", "supers", "census", "waiting")

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None,
        scamp: ScampSettings | None,
        finder: Finder,
        census: CensusSettings | None = None,
        true_sizes: bool = False,
    ) -> None:
        self.seed, self.true_sizes = seed, true_sizes
        self.topic = np.asarray(topic, np.int32)
        self.scamp = Scamp(len(self.topic), seed, scamp)
        self.census = Census(len(self.topic), seed, census)
        self.supers = SuperTables(
            tree,
            self.topic,
            finder,
            lambda: self.scamp.views.partial,
            seed,
            settings,
            sizes=None if true_sizes else self.census.sizes,
        )
        self.waiting = np.empty(0, np.int64)
        self.sent: Sent = ()  # for contacts and the census

    @abstractmethod
    def contacts_for(
        self, members: NDArray[np.int64], cycle: int, channel: Channel
    ) -> tuple[NDArray[np.int64], int]:
        """Find a contact in the same community for each member (-1: none); also return the message count."""

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Unsubscribe `peers`."""
        self.scamp.leave(peers, cycle)
        self.supers.leave(peers, cycle)
        self.census.leave(peers)
        self.waiting = self.waiting[~np.isin(self.waiting, peers)]

    def sizes(self) -> NDArray[np.float64]:
        """Each member's estimate of the size of its community."""
        return self.census.sizes()

    def inside(self) -> NDArray[np.bool_]:
        """Which members are in their communities: the founders, and those that a member has served."""
        served: NDArray[np.bool_] = self.scamp.views.served == 1
        return served

    def ready(self) -> NDArray[np.bool_]:
        """Which members may publish: those in their communities whose super-topic tables are ready."""
        return self.inside() & self.supers.ready()

    def topics_changed(self) -> None:
        """Update the state after topics or further parents were added to the tree."""
        self.supers.topics_changed()

    def tables(self) -> Tables:
        """The views of SCAMP and the super-topic tables."""
        return Tables(self.topic, self.scamp.views.partial, self.supers.state.table)

    def links(self) -> LinkTable:
        """The views of SCAMP and the super-topic tables as (holders, members, stamps of 0)."""
        return table_links(self.scamp.views.partial, self.supers.state.table)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        return self.scamp.referenced(alive) | named(len(alive), self.supers.state.table[alive == 1])

    def _start(self, peers: NDArray[np.int64], supers: ArrayLike, cycle: int) -> None:
        """Start peers with empty tables, except for a super-contact if given."""
        self.supers.join(peers, supers, cycle)
        self.census.join(peers, cycle)
        self.waiting = np.concatenate([self.waiting[~np.isin(self.waiting, peers)], peers])

    def _keep_tables(self, cycle: int, network: Network) -> dict[str, dict[str, int]]:
        """Run one cycle of everything except finding contacts for newcomers; return the cost of each part."""
        channel = channel_of(network)
        self.sent = ((channel.sent, 3 * WORD),)
        contacts, census = self._renew_contacts(cycle, channel), {"messages": 0, "bytes": 0}
        if not self.true_sizes:  # as published there is no census, and parts merge only by chance
            counting = channel.afresh()
            census = dict(self.census.step(cycle, self.scamp.views.partial, counting))
            self.sent += ((counting.sent, self.census.tally_bytes),)
            wanted = (self.scamp.settings.c + 1) * np.log(self.sizes())
            self.scamp.views.wanted[:] = np.where(self.census.joined == 1, np.floor(wanted), 0)
            contacts += self._merge_parts(cycle, channel)
        return {
            "contacts": channel.cost(contacts, 3 * WORD),
            "census": {**census, "failed": 0},
            "topic tables": self.scamp.step(cycle, network),
            "super tables": self.supers.step(cycle, network),
        }

    def _renew_contacts(self, cycle: int, channel: Channel) -> int:
        """Find another contact for members that need one; return the number of messages."""
        v, s = self.scamp.views, self.scamp.settings
        lost = (v.size == 0) | ((v.asked >= 0) & (v.asked <= cycle - s.patience))
        lost |= s.contact_first & (v.lease_end == cycle)
        due = np.flatnonzero(lost & (v.lease_end > 0) & (channel.alive == 1))
        others, messages = self.contacts_for(due, cycle, channel)
        v.contact[due[others >= 0]] = others[others >= 0]
        return messages

    def _merge_parts(self, cycle: int, channel: Channel) -> int:
        """Let some members ask a contact whether both are in the same component of their community."""
        members = self.census.askers(cycle, channel)
        members = members[self.scamp.views.served[members] == 1]
        others, messages = self.contacts_for(members, cycle, channel)
        members, others = members[others >= 0], others[others >= 0]
        apart = self.census.apart(members, others, cycle, channel)
        before = channel.messages
        self.scamp.merge(members[apart], others[apart], cycle, channel)
        return messages + 2 * len(members) + channel.messages - before


def add_up(costs: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Total cost of several parts, and the number of messages of each.

    Examples
    --------
    >>> add_up({"a": {"messages": 2, "failed": 1, "bytes": 8}, "b": {"messages": 1, "failed": 0, "bytes": 4}})
    {'messages': 3, 'failed': 1, 'bytes': 12, 'a': 2, 'b': 1}
    """
    whole = {name: sum(cost[name] for cost in costs.values()) for name in ("messages", "failed", "bytes")}
    return {**whole, **{part: cost["messages"] for part, cost in costs.items()}}
