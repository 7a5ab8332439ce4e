"""The semi-structured membership: SCAMP for topic tables, contacts found in a P-Grid. CAMCAST Section 5.2.2.

A newcomer joins the overlay, rests there until it has its place, asks for members of its own community and
subscribes through one of them. Only then does it announce itself, so whoever is found is subscribed already.
The peer that a request ends at names the first to ask as founder of an empty community. Super-contacts are
found in the same way, and so are contacts to renew leases through: should two have founded the same
community, or should it fall apart, its parts grow together again within a lease.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.camcast.tables import Tables
from hierarchy.channel import WORD, Channel, channel_of
from hierarchy.membership.pgrid.layer import PGrid
from hierarchy.membership.pgrid.settings import PGridSettings
from hierarchy.membership.rows import named
from hierarchy.membership.scamp.layer import Scamp
from hierarchy.membership.scamp.settings import ScampSettings
from hierarchy.membership.unstructured import add_up, part
from hierarchy.super_tables.layer import SuperTables
from hierarchy.super_tables.rules import Search
from hierarchy.topics import TopicTree
from sub2sub.overlay.network import Network
from sub2sub.overlay.views import table_links

__all__ = ["OverlayFinder", "SemiStructured"]


class OverlayFinder:
    """A `Finder` that searches a P-Grid for each topic of a request, nearest first."""

    def __init__(self, grid: PGrid) -> None:
        self.grid = grid
        self.hops = np.empty(0, np.int64)  # of the searches of the last call

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Search the overlay for each topic of a request until somebody is found."""
        found, requests, slots = search.nothing(), search.requests, search.slots
        messages, hops = 0, []
        for place in range(int(requests[:, 2].max(initial=0))):
            left = np.flatnonzero((found[:, 0] < 0) & (requests[:, 2] > place))
            if len(left) == 0:
                break
            topics = slots.chain[slots.start[requests[left, 1]] + place]
            answers = self.grid.search(
                requests[left, 0], topics, search.wanted, search.cycle, search.channel, salt=1 + place
            )
            found[left] = answers.members
            messages += int(answers.messages.sum()) + len(left)
            hops.append(answers.hops)
        self.hops = np.concatenate(hops) if hops else np.empty(0, np.int64)
        return found, messages


class SemiStructured:
    """SCAMP views as topic tables; all contacts by searching a P-Grid.

    Parameters
    ----------
    tree : TopicTree
        The hierarchy.
    topic : (n,) array
        Community of each member, present or to come.
    seed : int
        Of all draws.
    settings, scamp, pgrid : optional
        Of CAMCAST, SCAMP and P-Grid.
    rest : int
        Cycles a newcomer is in the overlay before it searches there.

    Examples
    --------
    >>> from hierarchy.camcast import Communities
    >>> group = Communities.chain(7, 28, 79)
    >>> membership, network = SemiStructured(group.tree, group.topic, seed=1), Network.whole(114)
    >>> membership.join(np.arange(114), np.full(114, -1), cycle=0)
    >>> for cycle in range(20):
    ...     cost = membership.step(cycle, network)
    >>> tables = membership.tables()
    >>> bool((tables.super_table[tables.topic > 0, 0, 0] >= 0).all())
    True
    """

    name = "semi-structured"

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        scamp: ScampSettings | None = None,
        pgrid: PGridSettings | None = None,
        rest: int = 5,
    ) -> None:
        self.topic = np.asarray(topic, np.int32)
        self.grid = PGrid(tree, self.topic, seed, pgrid)
        self.scamp = Scamp(len(self.topic), seed, replace(scamp or ScampSettings(), contact_first=True))
        self.rest = rest
        self.cycles_to_join = rest + 1
        self.finder = OverlayFinder(self.grid)
        self.supers = SuperTables(
            tree, self.topic, self.finder, lambda: self.scamp.views.partial, seed, settings
        )
        self.joining = np.empty(0, np.int64)
        self.entered = np.zeros(len(self.topic), np.int64)  # cycle of the last join

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` afresh; a contact (-1: the overlay's gateways) is one in the overlay."""
        peers = np.asarray(peers, np.int64)
        self.grid.join(peers, contacts, cycle)
        self.grid.announce_in[peers] = -1  # not before the subscription
        self.entered[peers] = cycle
        self.supers.join(peers, np.full(len(peers), -1), cycle)
        self.joining = np.concatenate([self.joining[~np.isin(self.joining, peers)], peers])

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Unsubscribe `peers` and take them out of the overlay."""
        self.grid.leave(peers, cycle)
        self.scamp.leave(peers, cycle)
        self.supers.leave(peers, cycle)
        self.joining = self.joining[~np.isin(self.joining, peers)]

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Let the overlay take its turn, subscribe newcomers, then SCAMP and the super-topic tables."""
        overlay = self.grid.step(cycle, network)
        channel = channel_of(network)
        searches = self._subscribe(cycle, channel) + self._renew_contacts(cycle, channel)
        topic_tables = self.scamp.step(cycle, network)
        super_tables = self.supers.step(cycle, network)
        cost = add_up(overlay, topic_tables, super_tables)
        cost["messages"] += searches
        cost["failed"] += int(channel.failed[0])
        cost["bytes"] += 3 * WORD * searches
        return {
            **cost,
            "overlay": overlay["messages"] + searches,
            "topic tables": topic_tables["messages"],
            "super tables": super_tables["messages"],
        }

    def topics_changed(self) -> None:
        """Take up topics, or further parents, that were added to the tree."""
        self.supers.topics_changed()

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members somebody alive still knows of."""
        supers = named(len(alive), self.supers.state.table[alive == 1])
        return self.scamp.referenced(alive) | self.grid.referenced(alive) | supers

    def tables(self) -> Tables:
        """The views of SCAMP and the super-topic tables."""
        return Tables(self.topic, self.scamp.views.partial, self.supers.state.table)

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The views of SCAMP and the super-topic tables as (holders, members, stamps of 0)."""
        return table_links(self.scamp.views.partial, self.supers.state.table)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything a checkpoint has to keep."""
        return {
            **{f"pgrid {name}": array for name, array in self.grid.arrays().items()},
            **{f"scamp {name}": array for name, array in self.scamp.arrays().items()},
            **{f"supers {name}": array for name, array in self.supers.arrays().items()},
            "waiting": self.joining,
            "entered": self.entered,
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up the state that `arrays` gave."""
        self.grid.load(part(arrays, "pgrid "))
        self.scamp.load(part(arrays, "scamp "))
        self.supers.load(part(arrays, "supers "))
        self.joining, self.entered = arrays["waiting"].copy(), arrays["entered"].copy()

    def _renew_contacts(self, cycle: int, channel: Channel) -> int:
        """Find those a contact whose lease ends in this cycle."""
        due = np.flatnonzero((self.scamp.views.lease_end == cycle) & (channel.alive == 1))
        found = self.grid.search(due, self.topic[due], 1, cycle, channel, salt=-1)
        known = found.members[:, 0] >= 0
        self.scamp.views.contact[due[known]] = found.members[known, 0]
        return int(found.messages.sum()) + len(due)

    def _subscribe(self, cycle: int, channel: Channel) -> int:
        """Search a contact for each newcomer that has its place in the overlay; the first to ask founds."""
        ready = (channel.alive[self.joining] == 1) & ~np.isin(self.joining, self.grid.joining)
        ready &= self.entered[self.joining] + self.rest <= cycle
        messages, waiting = 0, [self.joining[~ready]]
        for peer in self.joining[ready]:
            found = self.grid.search([peer], self.topic[[peer]], 1, cycle, channel)
            messages += int(found.messages[0]) + 1
            if found.reached[0]:
                self.scamp.join([peer], found.members[0], cycle)
                self.grid.announce_in[peer] = cycle
                messages += self.grid.announce(np.array([peer]), cycle, channel)
            else:
                waiting.append(np.array([peer]))
        self.joining = np.concatenate(waiting)
        return messages
