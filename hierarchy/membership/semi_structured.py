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
from hierarchy.compiled.common.channel import WORD, Channel, channel_of
from hierarchy.compiled.pgrid.layer import PGrid, SearchAnswers
from hierarchy.compiled.super_tables.rules import Search
from hierarchy.membership.entrance import FOUND, WAIT, decide
from hierarchy.membership.scamp_membership import ScampMembership, add_up
from hierarchy.peers.settings import PGridSettings, ScampSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network

WANTED = 8  # members a newcomer asks for


class OverlayFinder:
    """A `Finder` that searches a P-Grid for each topic of a request, nearest first."""

    def __init__(self, grid: PGrid) -> None:
        self.grid = grid

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Search the P-Grid for each topic of a request until a member is found."""
        (members, slots, scope), chains = search.requests.T, search.tables.slots
        return self.grid.search_up(
            members, chains.chain, chains.start[slots], scope, search.wanted, search.cycle, search.channel, 1
        )


class SemiStructured(ScampMembership):
    """SCAMP views as topic tables; all contacts are found by searching a P-Grid.

    Parameters
    ----------
    tree, topic, seed, settings, scamp, **others
        As of `Unstructured`, which has an example; there is no `finder`.
    rest : int
        Number of cycles that a newcomer spends in the P-Grid before its first search.
    """

    name = "semi-structured"
    saved = (*ScampMembership.saved, "pgrid", "entered")

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        scamp: ScampSettings | None = None,
        pgrid: PGridSettings | None = None,
        rest: int = 5,
        **others: Any,
    ) -> None:
        topics = np.asarray(topic, np.int32)
        self.pgrid = PGrid(tree, topics, seed, pgrid)
        self.finder = OverlayFinder(self.pgrid)
        first = replace(scamp or ScampSettings(), contact_first=True)
        super().__init__(tree, topics, seed, settings, first, self.finder, **others)
        self.rest = rest
        self.cycles_to_join = rest + 1
        self.entered = np.zeros(len(topics), np.int64)  # cycle of the last join
        self.failed_searches = np.zeros(len(topics), np.int64)  # searches of a newcomer that found no member

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables; contacts are peers of the P-Grid (-1: ask its gateways)."""
        peers = np.asarray(peers, np.int64)
        self.pgrid.join(peers, contacts, cycle)
        self.pgrid.announce_in[peers] = -1  # not before the subscription
        self.entered[peers], self.failed_searches[peers] = cycle, 0
        self._start(peers, np.full(len(peers), -1), cycle)

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Unsubscribe `peers` and remove them from the P-Grid."""
        super().leave(peers, cycle)
        self.pgrid.leave(peers, cycle)

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Step the P-Grid, subscribe newcomers, then step SCAMP and the super-topic tables."""
        overlay = self.pgrid.step(cycle, network)
        channel = channel_of(network)
        asked = channel.cost(self._subscribe(cycle, channel), 3 * WORD)
        costs = add_up({"overlay": overlay, "newcomers": asked, **self._keep_tables(cycle, network)})
        costs["contacts"] += costs.pop("newcomers")
        return costs

    def contacts_for(
        self, members: NDArray[np.int64], cycle: int, channel: Channel
    ) -> tuple[NDArray[np.int64], int]:
        """Search the P-Grid for other members of their community.

        A member that no other has served yet decides as a newcomer does: it may found the community itself.
        """
        answers = self.pgrid.search(members, self.topic[members], 1, cycle, channel, salt=-1)
        others = answers.members[:, 0].astype(np.int64)
        for row in np.flatnonzero(self.scamp.views.served[members] == 0).tolist():
            choice = others[row] = self._decide(int(members[row]), answers, row)
            if choice == FOUND:
                self.scamp.join(members[[row]], [FOUND], cycle)
        return others, int(answers.messages.sum()) + len(members)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        return super().referenced(alive) | self.pgrid.referenced(alive)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores."""
        return {**super().arrays(), "failed searches": self.failed_searches}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
        super().load(arrays)
        self.failed_searches = np.array(arrays["failed searches"])

    def _subscribe(self, cycle: int, channel: Channel) -> int:
        """Search for a contact for each newcomer with a position in the P-Grid; return the message count."""
        ready = (channel.alive[self.waiting] == 1) & ~np.isin(self.waiting, self.pgrid.joining)
        ready &= self.entered[self.waiting] + self.rest <= cycle
        messages, waiting = 0, [self.waiting[~ready]]
        for peer in self.waiting[ready].tolist():
            answer = self.pgrid.search([peer], self.topic[[peer]], WANTED, cycle, channel)
            messages += int(answer.messages[0]) + 1
            choice = self._decide(peer, answer, 0)
            if choice == WAIT:
                waiting.append(np.array([peer]))
            else:
                self.scamp.join([peer], [choice], cycle)
            if answer.reached[0] and self.pgrid.announce_in[peer] < 0:
                self.pgrid.announce_in[peer] = cycle
                messages += self.pgrid.announce(np.array([peer]), cycle, channel)
        self.waiting = np.concatenate(waiting)
        return messages

    def _decide(self, peer: int, answers: SearchAnswers, row: int) -> int:
        """What a member that is not in yet does after a search; one that got stuck says nothing."""
        if not answers.reached[row]:
            return WAIT
        named = [*answers.members[row].tolist(), int(answers.first[row])]
        self.failed_searches[peer] += 1
        return decide(peer, [member for member in named if member >= 0], int(self.failed_searches[peer]) - 1)
