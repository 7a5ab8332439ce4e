"""Gossip multicast with one table for each topic (alternative (b) of CAMCAST, Sections 3.1 and 4.2).

Whoever subscribes to a topic is a member of its group and of the group of every subtopic, with a CYCLON view
in each, since every one of these views is a membership of its own. An event is gossiped in the group of its
topic only: nobody gets what it does not want, and a subscriber of the root keeps a view for every topic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.gossip import Choices, spread_tables
from sims.compare.systems.sampled import Sampled
from sims.compare.systems.system import Knob, System, Traffic, Unable
from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.overlay.network import Network

__all__ = ["MOST_MEMBERS", "Multicast"]

MOST_MEMBERS = 2_000_000  # memberships, about 1 GB of views and counts


class Multicast(System):
    """A member for each subscriber and each topic it is owed the events of.

    Attributes
    ----------
    host, topic : (members,) int64
        Sorted by host, then topic.
    """

    name = "multicast"
    knobs = tuple(Knob(fanout=f) for f in (2, 4, 6, 8, 12))

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        assert world.topics is not None
        tree = world.topics.ranges.tree
        owed = [np.sort([t, *tree.subtopics_below(t)]) for t in range(tree.capacity)]
        sizes = np.array([len(topics) for topics in owed])[world.topics.of]
        if sizes.sum() > MOST_MEMBERS:
            raise Unable(f"not run: {sizes.sum():,} memberships, more than {MOST_MEMBERS:,}")
        self.host = np.repeat(np.arange(world.n), sizes)
        self.topic = np.concatenate([owed[t] for t in world.topics.of.tolist()])
        self.network = Network.whole(len(self.host))
        self.views = Sampled(self.topic, seed)

    def step(self, cycle: int) -> Traffic:
        """One shuffle of every membership."""
        return self.views.step(cycle, self.network)

    def links(self) -> dict[str, NDArray[np.int64]]:
        """All views of a host together."""
        entries = np.bincount(self.host, weights=self.views.cyclon.size, minlength=self.world.n)
        return {"groups": entries.astype(np.int64)}

    def members(self, alive: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """All memberships of those who are up."""
        up: NDArray[np.uint8] = alive[self.host]
        return up

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Gossip in the group of the event's topic, from the publisher's membership there."""
        assert self.world.topics is not None
        first = np.searchsorted(self.host, np.arange(self.world.n))
        place = self.host * self.world.topics.ranges.tree.capacity + self.topic
        wanted = publishers * self.world.topics.ranges.tree.capacity + self.world.topics.of_event[events]
        starts = np.searchsorted(place, wanted)
        n = len(self.host)
        never = np.zeros(n)
        return spread_tables(
            self.views.table(), np.full((n, 1, 1), -1, np.int32),
            Choices(np.full(n, knob["fanout"], np.int32), never, never), self.network, self.host,
            self.network.alive[first], self.world.matches, events, starts, publishers, self.seed, salt,
        )  # fmt: skip
