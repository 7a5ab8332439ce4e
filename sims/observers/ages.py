"""Age of links: the number of cycles since their peer was last heard from."""

from __future__ import annotations

import numpy as np

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sims.observers.degrees import live_links


class LinkAges:
    """Ages of one layer's links, in cycles.

    Parameters
    ----------
    layer : str
        The layer whose links are observed.
    """

    def __init__(self, layer: str) -> None:
        self.layer = layer
        self.name = f"{layer}-ages"

    def execute(self, simulation: Simulation) -> Row:
        """Measure the ages."""
        _, _, stamps = live_links(simulation, self.layer)
        ages = simulation.cycle - stamps if stamps.size else np.zeros(1)
        return {
            "mean": float(ages.mean()),
            "p50": float(np.percentile(ages, 50)),
            "p99": float(np.percentile(ages, 99)),
            "p999": float(np.percentile(ages, 99.9)),
            "max": int(ages.max()),
        }
