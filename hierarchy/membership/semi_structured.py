"""The semi-structured membership: SCAMP for topic tables, contacts from a P-Grid (CAMCAST, Section 5.2.2).

A newcomer first joins the P-Grid and waits there until it has its position. It then searches for members of
its own community and subscribes through one of them; `hierarchy.membership.entrance` decides which newcomer
founds a community. Then it announces itself. Super-contacts, and contacts for the renewal of leases, are
found in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.channel import WORD, Channel, channel_of
from hierarchy.membership.census.settings import CensusSettings
from hierarchy.membership.entrance import CONFIRM, WAIT, decide
from hierarchy.membership.pgrid.layer import PGrid
from hierarchy.membership.pgrid.settings import PGridSettings
from hierarchy.membership.scamp.settings import ScampSettings
from hierarchy.membership.scamp_membership import ScampMembership, add_up, part
from hierarchy.super_tables.rules import Search
from hierarchy.topics import TopicTree
from sub2sub.overlay.network import Network

WANTED = 8  # members a newcomer asks for


class OverlayFinder:
    """A `Finder` that searches a P-Grid for each topic of a request, nearest first."""

    def __init__(self, grid: PGrid) -> None:
        self.grid = grid
        self.hops = np.empty(0, np.int64)  # of the searches of the last call

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Search the P-Grid for each topic of a request until a member is found."""
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


class SemiStructured(ScampMembership):
    """SCAMP views as topic tables; all contacts are found by searching a P-Grid.

    Parameters
    ----------
    tree, topic, seed, settings, scamp, census, true_sizes
        As of `Unstructured`.
    pgrid : PGridSettings, optional
    rest : int
        Number of cycles that a newcomer spends in the P-Grid before its first search.

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
        census: CensusSettings | None = None,
        true_sizes: bool = False,
    ) -> None:
        topics = np.asarray(topic, np.int32)
        self.grid = PGrid(tree, topics, seed, pgrid)
        self.finder = OverlayFinder(self.grid)
        own = replace(scamp or ScampSettings(), contact_first=True)
        super().__init__(tree, topics, seed, settings, self.finder, own, census, true_sizes)
        self.rest = rest
        self.cycles_to_join = rest + 1
        self.entered = np.zeros(len(topics), np.int64)  # cycle of the last join
        self.failed_searches = np.zeros(len(topics), np.int64)  # searches of a newcomer that found no member

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables; contacts are peers of the P-Grid (-1: ask its gateways)."""
        peers = np.asarray(peers, np.int64)
        self.grid.join(peers, contacts, cycle)
        self.grid.announce_in[peers] = -1  # not before the subscription
        self.entered[peers], self.failed_searches[peers] = cycle, 0
        self._start(peers, np.full(len(peers), -1), cycle)

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Unsubscribe `peers` and remove them from the P-Grid."""
        super().leave(peers, cycle)
        self.grid.leave(peers, cycle)

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Step the P-Grid, subscribe newcomers, then step SCAMP and the super-topic tables."""
        overlay = self.grid.step(cycle, network)
        channel = channel_of(network)
        searches = self._subscribe(cycle, channel)
        found = {"messages": searches, "failed": int(channel.failed[0]), "bytes": 3 * WORD * searches}
        costs = add_up({"overlay": overlay, "newcomers": found, **self._keep_tables(cycle, network)})
        costs["contacts"] += costs.pop("newcomers")
        return costs

    def contacts_for(
        self, members: NDArray[np.int64], cycle: int, channel: Channel
    ) -> tuple[NDArray[np.int64], int]:
        """Search the P-Grid for other members of their community.

        One that is not in yet takes a smaller number, unless it has tried that often (see `entrance`).
        """
        found = self.grid.search(members, self.topic[members], 1, cycle, channel, salt=-1)
        others = found.members[:, 0].astype(np.int64)
        outside = self.scamp.views.served[members] == 0
        self.failed_searches[members[outside]] += 1
        follows = outside & (others > members) & (self.failed_searches[members] <= 2 * CONFIRM)
        others[follows] = np.where(found.first < members, found.first, -1)[follows]
        return others, int(found.messages.sum()) + len(members)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        return super().referenced(alive) | self.grid.referenced(alive)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores."""
        return {
            **super().arrays(),
            **{f"pgrid {name}": array for name, array in self.grid.arrays().items()},
            "entered": self.entered,
            "failed searches": self.failed_searches,
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
        super().load(arrays)
        self.grid.load(part(arrays, "pgrid "))
        self.entered, self.failed_searches = arrays["entered"].copy(), arrays["failed searches"].copy()

    def _subscribe(self, cycle: int, channel: Channel) -> int:
        """Search for a contact for each newcomer with a position in the P-Grid; return the message count."""
        ready = (channel.alive[self.joining] == 1) & ~np.isin(self.joining, self.grid.joining)
        ready &= self.entered[self.joining] + self.rest <= cycle
        messages, waiting = 0, [self.joining[~ready]]
        for peer in self.joining[ready].tolist():
            found = self.grid.search([peer], self.topic[[peer]], WANTED, cycle, channel)
            messages += int(found.messages[0]) + 1
            named = [*found.members[0].tolist(), int(found.first[0])]
            choice = decide(peer, [each for each in named if each >= 0], int(self.failed_searches[peer]))
            if not found.reached[0] or choice == WAIT:
                waiting.append(np.array([peer]))
            else:
                self.scamp.join([peer], [choice], cycle)
            if found.reached[0] and self.grid.announce_in[peer] < 0:
                self.grid.announce_in[peer] = cycle
                messages += self.grid.announce(np.array([peer]), cycle, channel)
            self.failed_searches[peer] += found.reached[0]
        self.joining = np.concatenate(waiting)
        return messages
