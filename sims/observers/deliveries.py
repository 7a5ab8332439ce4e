"""What becomes of events, from the views as they are: hit ratio, messages, duplicates, spam."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.boxes import points
from sub2sub.dissemination import DisseminationSettings, disseminate
from sub2sub.links import Links

__all__ = ["Deliveries"]


class Deliveries:
    """Publish test events at random matching peers, and follow each to the end.

    Events nobody alive matches are left out of the shares.
    """

    name = "deliveries"

    def __init__(self, events: ArrayLike, settings: DisseminationSettings | None = None) -> None:
        self.events = points(events)
        self.settings = settings or DisseminationSettings()

    def execute(self, simulation: Simulation) -> Row:
        """Disseminate them over the overlay as it is."""
        overlay = simulation.overlay
        outcome = disseminate(
            Links.of(overlay), overlay.network, self.events,
            settings=self.settings, seed=overlay.seed, cycle=simulation.cycle,
        )  # fmt: skip
        meant = outcome.matches > 0
        hits = outcome.hit_ratios[meant]
        return {
            "hit_ratio": float(hits.mean()) if hits.size else 1.0,
            "complete": float(outcome.complete[meant].mean()) if hits.size else 1.0,
            "messages": float(outcome.messages.mean()),
            "duplicates": float(outcome.duplicates.mean()),
            "spam": float(outcome.spam.mean()),
            "failed": float(outcome.failed.mean()),
            "hops": float(np.mean(outcome.hops)),
        }
