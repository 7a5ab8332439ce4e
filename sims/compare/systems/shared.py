"""CAMCAST routing on the shared Sub-2-Sub overlay: one overlay, two ways of using it.

Interests are nested ranges. A peer's topic table are its links, of whatever layer, to peers with the same
range, its super-topic table its links to the tightest enclosing range (`hierarchy.camcast.shared_overlay`).
Links and upkeep are those of the overlay; the tables cost nothing more.

A member knows neither the tree nor the size N of its community. It takes the distance, in ID space, to the
next peer with the same range that it knows of: the distances of all members add up to the whole ID space, so
with p_sel = g times its own share an event goes up g times on average, however many they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast import OverlayTables, tables_from_overlay
from sims.compare.systems.communities import KNOBS, Z, choices
from sims.compare.systems.gossip import spread_tables
from sims.compare.systems.rings import RingOverlay
from sims.compare.systems.system import Knob, Traffic
from sims.compare.tally import Tally
from sims.compare.worlds.world import World
from sub2sub.kernels.compilation import kernel

__all__ = ["SharedCamcast"]


class SharedCamcast(RingOverlay):
    """CAMCAST's rule on the links of a ring overlay."""

    name = "camcast on rings"
    knobs = KNOBS

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        self.drawn: OverlayTables | None = None

    def step(self, cycle: int) -> Traffic:
        """As of the overlay; tables are drawn anew when they are next needed."""
        self.drawn = None
        return super().step(cycle)

    def publish(
        self, events: NDArray[np.int64], publishers: NDArray[np.int64], knob: Knob, salt: int
    ) -> Tally:
        """Gossip among equal ranges, and to tighter enclosing ones."""
        if self.drawn is None:
            self.drawn = tables_from_overlay(self.overlay, Z)
        tables = self.drawn.tables
        ln_n = np.log(_density(tables.topic_table, self.overlay.population.ids))
        alive = self.network.alive[self.peer]
        return spread_tables(
            tables.topic_table, tables.super_table, choices(ln_n, knob), self.network, self.row, alive,
            self.world.matches, events, self.peer[publishers], publishers, self.seed, salt,
        )  # fmt: skip


@kernel
def _density(table, ids):
    """How often the distance to the next member known fits into the ID space; 1 for one who knows nobody."""
    density = np.ones(len(table), np.float64)
    for member in range(len(table)):
        nearest = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(table.shape[1]):
            if table[member, k] < 0:
                break
            nearest = min(nearest, ids[table[member, k]] - ids[member])  # wraps round
        density[member] = 2.0**64 / max(1.0, np.float64(nearest))
    return density
