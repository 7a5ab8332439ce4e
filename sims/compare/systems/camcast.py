"""CAMCAST on its own tables, where interests are topics (CAMCAST)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.communities import KNOBS, Communities
from sims.compare.systems.gossip import spread_tables
from sims.compare.systems.system import Knob, System, Traffic
from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.overlay.network import Network

__all__ = ["Camcast"]


class Camcast(System):
    """Every subscriber is a member of its topic's community."""

    name = "camcast"
    knobs = KNOBS

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        assert world.topics is not None
        self.network = Network.whole(world.n)
        self.communities = Communities(world.topics.ranges.tree, world.topics.of, seed)

    def step(self, cycle: int) -> Traffic:
        """One cycle of the membership."""
        return self.communities.step(cycle, self.network)

    def links(self) -> dict[str, NDArray[np.int64]]:
        """Both tables."""
        return dict(zip(("topic table", "super-topic table"), self.communities.sizes(), strict=True))

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Gossip in the publisher's community, and upward from there."""
        return spread_tables(
            *self.communities.tables(knob), self.network, np.arange(self.world.n), self.network.alive,
            self.world.matches, events, publishers, publishers, self.seed, salt,
        )  # fmt: skip
