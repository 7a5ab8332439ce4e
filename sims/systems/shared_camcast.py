"""CAMCAST routing on the shared Sub-2-Sub overlay: one overlay, two ways of using it.

Interests are nested ranges. A peer's topic table are its links, of whatever layer, to peers with the same
range, its super-topic table its links to the tightest enclosing range (`hierarchy.camcast.shared_overlay`).
Links and upkeep are those of the overlay; the tables cost nothing more.

A member knows neither the tree nor the size N of its community. It takes the distance, in ID space, to the
next peer with the same range that it knows of: the distances of all members add up to the whole ID space, so
with p_sel = g times its own share an event goes up g times on average, however many they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierarchy.camcast import OverlayTables, tables_from_overlay
from sims.systems.community_sizes import KNOBS, PROBE, CommunityGossip, Z, choices
from sims.systems.gossip import TableGossip
from sims.systems.interface import Integers
from sims.systems.sub2sub import RingOverlay
from sims.systems.topic_workload import TopicWorkload
from sub2sub.events.outcome import Outcome
from sub2sub.kernels.compilation import kernel

__all__ = ["SharedCamcast"]


class SharedCamcast(RingOverlay, TableGossip):
    """CAMCAST's rule on the links of a ring overlay."""

    name = "camcast on rings"
    workload = TopicWorkload
    dissemination = CommunityGossip
    knobs, probe = KNOBS, PROBE

    def __init__(self, *given: Any, **named: Any) -> None:
        self.drawn: OverlayTables | None = None
        super().__init__(*given, **named)

    def forget(self) -> None:
        """Tables are drawn anew when they are next needed."""
        self.drawn = None

    def publish(
        self,
        events: Integers,
        publishers: Integers,
        settings: CommunityGossip,
        salt: int,
        record: bool = False,
    ) -> Outcome:
        """Gossip among equal ranges, and to tighter enclosing ones."""
        if self.drawn is None:
            self.drawn = tables_from_overlay(self.overlay, Z)
        drawn = self.drawn.tables
        ln_n = np.log(_density(drawn.topic_table, self.overlay.population.ids))
        tables = drawn.topic_table, drawn.super_table, choices(ln_n, settings)
        return self.spread(tables, events, publishers, publishers, salt, settings.retries, record)


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
