"""Gossip broadcast with filtering: everybody gets every event, and throws most of them away.

Alternative (a) of CAMCAST, Section 4.2, after Kermarrec, Massoulié and Ganesh (TPDS 2003): a process that
receives an event for the first time sends it once to F random others, whoever they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.gossip import Choices, spread_tables
from sims.compare.systems.sampled import Sampled
from sims.compare.systems.system import Knob, System, Traffic
from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.overlay.network import Network

__all__ = ["Broadcast"]


class Broadcast(System):
    """One CYCLON view of the whole population."""

    name = "broadcast"
    knobs = tuple(Knob(fanout=f) for f in (2, 4, 8, 12, 20))

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        self.network = Network.whole(world.n)
        self.views = Sampled(np.zeros(world.n, np.int64), seed)

    def step(self, cycle: int) -> Traffic:
        """One shuffle."""
        return self.views.step(cycle, self.network)

    def links(self) -> dict[str, NDArray[np.int64]]:
        """The view."""
        return {"random": self.views.cyclon.size.astype(np.int64)}

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Gossip to F entries of the view."""
        n = self.world.n
        never = np.zeros(n)
        return spread_tables(
            self.views.table(), np.full((n, 1, 1), -1, np.int32),
            Choices(np.full(n, knob["fanout"], np.int32), never, never), self.network, np.arange(n),
            self.network.alive, self.world.matches, events, publishers, publishers, self.seed, salt,
        )  # fmt: skip
