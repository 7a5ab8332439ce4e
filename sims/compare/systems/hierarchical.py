"""Hierarchical gossip broadcast (alternative (c) of CAMCAST, Section 4.2; Kermarrec et al., TPDS 2003).

Subscribers are dealt into about sqrt(n) groups, whatever they want. Each keeps a CYCLON view of its group and
one of the whole population, of which the entries outside its group are its links to other groups. An event
is sent once to `intra` of the former and, on average, to `inter` of the latter.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sims.compare.systems.gossip import Choices, spread_tables
from sims.compare.systems.sampled import VIEW, Sampled
from sims.compare.systems.system import Knob, System, Traffic
from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.network import Network

__all__ = ["Hierarchical"]

STREAM = stream_number("compare/groups")


class Hierarchical(System):
    """Two views a subscriber; members 0 to n - 1 hold those of groups, n to 2n - 1 those of everybody."""

    name = "hierarchical"
    knobs = tuple(Knob(intra=a, inter=b) for a, b in ((2, 1), (4, 2), (6, 4), (8, 6), (12, 10)))

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        n = world.n
        marks = draws(cycle_key(seed, STREAM, 0), np.arange(n))
        self.group = np.empty(n, np.int64)
        self.group[np.argsort(marks, kind="stable")] = np.arange(n) % max(1, round(sqrt(n)))
        self.network = Network.whole(2 * n)
        self.views = Sampled(np.append(self.group, np.full(n, self.group.max() + 1)), seed)

    def step(self, cycle: int) -> Traffic:
        """One shuffle of each view."""
        return self.views.step(cycle, self.network)

    def links(self) -> dict[str, NDArray[np.int64]]:
        """Both views."""
        sizes = self.views.cyclon.size.astype(np.int64)
        return {"group": sizes[: self.world.n], "other groups": sizes[self.world.n :]}

    def members(self, alive: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Both members of those who are up."""
        return np.tile(alive, 2)

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Gossip within the group and to other groups."""
        n = self.world.n
        table = self.views.table()
        others = np.where(table[n:] >= 0, table[n:] - n, -1)
        others[(others >= 0) & (self.group[others] == self.group[:, None])] = -1
        others = np.take_along_axis(others, np.argsort(others < 0, axis=1, kind="stable"), axis=1)
        choices = Choices(np.full(n, knob["intra"], np.int32), np.ones(n), np.full(n, knob["inter"] / VIEW))
        network = Network(self.network.alive[:n], self.network.group[:n], self.network.loss)
        return spread_tables(
            table[:n], np.ascontiguousarray(others[:, None, :]), choices, network, np.arange(n),
            network.alive, self.world.matches, events, publishers, publishers, self.seed, salt,
        )  # fmt: skip
