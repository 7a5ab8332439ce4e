"""Communities as an overlay for the engine: CAMCAST's memberships with the same controls as Sub-2-Sub.

Subscriptions to topics are stored as ranges in a `Population`. Controls that change subscriptions (joins,
churn, changed subscriptions) therefore work without knowledge of topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.communities import Communities
from hierarchy.camcast.settings import Settings
from hierarchy.compiled.camcast.dissemination import Spread, disseminate
from hierarchy.membership.interface import MembershipService, known_parameters
from hierarchy.membership.unstructured import Unstructured
from hierarchy.topics import NestedRanges, TopicTree
from hierarchy.topics.encoding import Added
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import normalise
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack


class CommunityOverlay(Stack):
    """A population of topic subscribers with a membership, which the engine can step.

    Parameters
    ----------
    ranges : NestedRanges
        The topics and their ranges.
    topics : (n,) array
        Topic of each subscription, by name or number. Each subscription is one peer.
    settings : Settings, optional
        Settings of CAMCAST.
    membership : callable, optional
        Makes the membership from (tree, topics, seed, settings); `Unstructured` by default.
    spare : int
        Number of rows reserved for newcomers.
    ids : (n,) array, optional
        Sequence IDs: peers are numbered in this order. Random by default.
    hosts : (n,) array, optional
        Host of each subscription; by default each has its own.

    Examples
    --------
    >>> ranges = NestedRanges(TopicTree.from_paths([".a.b"]))
    >>> overlay = CommunityOverlay(ranges, [".a.b"] * 60 + [".a"] * 20 + ["."] * 5, seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 20):
    ...     cost = overlay.step(cycle)
    >>> spread = overlay.publish(int(np.flatnonzero(overlay.topic == 2)[0]), event=0)
    >>> spread.parasites(overlay.communities(), ".a.b")
    0
    """

    def __init__(
        self,
        ranges: NestedRanges,
        topics: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        membership: Callable[[TopicTree, Any, int, Settings | None], MembershipService] = Unstructured,
        spare: int = 0,
        ids: ArrayLike | None = None,
        hosts: ArrayLike | None = None,
    ) -> None:
        self.ranges, self.settings = ranges, settings
        numbers = Communities.of(ranges.tree, topics).topic
        closed = ranges.bounds()[numbers] - np.array([0, 1])
        population = Population.of(closed[:, :1], closed[:, 1:], ids, hosts, spare, seed)
        self.membership = membership(ranges.tree, np.zeros(len(population), np.int32), seed, settings)
        super().__init__(population, [self.membership], seed)
        self._follow(np.arange(len(population)))

    @property
    def topic(self) -> NDArray[np.int32]:
        """Topic of each peer."""
        return self.membership.topic

    def communities(self) -> Communities:
        """The communities with all members, also crashed ones; a peer without a topic is in the root's."""
        known = np.isin(self.topic, list(self.ranges.tree))
        return Communities.of(self.ranges.tree, np.where(known, self.topic, 0))

    def bootstrap(self, cycle: int = 0) -> None:
        """Let all live peers join; the membership provides their contacts."""
        peers = np.flatnonzero(self.network.alive).astype(np.int64)
        self.admit(peers, np.full(len(peers), -1), cycle)

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start or restart peers, each with its subscription in the population."""
        self._follow(peers)
        super().admit(peers, contacts, cycle)

    def restored(self) -> None:
        """Set the topics of peers whose ranges came from a checkpoint."""
        self._follow(np.flatnonzero(self.population.present))

    def add_topic(self, name: str, parents: Sequence[str | int] | None = None) -> Added:
        """Add a topic. If ranges of other topics move, their subscriptions are updated."""
        added = self.ranges.add(name, parents)
        self._relabel(list(added.moved))
        return added

    def add_parent(self, topic: str | int, parent: str | int) -> None:
        """Add a further supertopic to a topic."""
        self.ranges.tree.add_parent(topic, parent)
        self._relabel([])

    def remove_topic(self, topic: str | int, cycle: int) -> int:
        """Remove a topic without subtopics, after its members unsubscribe; return how many these were."""
        tree = self.ranges.tree
        number = tree.number(topic)
        if number == 0 or tree.subtopics(number):
            raise InputError(
                f"topic: expected a topic without subtopics, not the root, got {tree.name(number)!r}"
            )
        there = (self.topic == number) & self.population.present
        members = np.flatnonzero(there).astype(np.int64)
        self.membership.leave(members, cycle)
        self.network.alive[members] = 0
        self.population.retire(members)
        self.ranges.remove(number)
        self._relabel([])
        return int(np.count_nonzero(there))

    def referenced(self) -> NDArray[np.bool_]:
        """Which peers a live peer still refers to."""
        return self.membership.referenced(self.network.alive)

    def publish(self, publisher: int, event: int) -> Spread:
        """Disseminate one event from a live peer over the current tables."""
        return disseminate(
            self.membership.tables(),
            known_parameters(self.membership, self.network, self.settings, self.ranges.tree),
            publisher,
            seed=self.seed,
            event=event,
            network=self.network,
        )

    def _relabel(self, moved: Sequence[int]) -> None:
        """Update the ranges of the members of the given topics, and notify the membership."""
        bounds, boxes, d = self.ranges.bounds(), self.population.boxes, self.population.d
        members = np.flatnonzero(np.isin(self.topic, moved) & self.population.present)
        closed = bounds[self.topic[members]].astype(float) - np.array([0, 1])
        boxes[members, 0, :d], boxes[members, 1, :d] = normalise(closed[:, :1], closed[:, 1:])
        self.membership.topics_changed()

    def _follow(self, peers: NDArray[np.int64]) -> None:
        """Set the topics of peers from their ranges."""
        lows, _ = self.population.ranges()
        bounds = self.ranges.bounds()
        order = np.argsort(bounds[:, 0], kind="stable")
        order = order[bounds[order, 0] < bounds[order, 1]]
        self.topic[peers] = order[np.searchsorted(bounds[order, 0], lows[peers, 0])]
