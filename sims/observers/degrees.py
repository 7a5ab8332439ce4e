"""How many links peers hold, and how many lead to them."""

from __future__ import annotations

import numpy as np

from sims.engine.control import Row
from sims.engine.simulation import Simulation

__all__ = ["Degrees", "live_links"]


def live_links(simulation: Simulation, layer: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(holders, peers, stamps) of one layer's links, of live holders."""
    for candidate in simulation.overlay.layers:
        if candidate.name == layer:
            holders, peers, stamps = candidate.links()
            live = simulation.overlay.network.alive[holders] == 1
            return holders[live], peers[live], stamps[live]
    raise KeyError(layer)


class Degrees:
    """Links held and received per live peer, in one layer; and how many lead to dead peers.

    Parameters
    ----------
    layer : str
        The layer whose links are looked at.
    """

    def __init__(self, layer: str) -> None:
        self.layer = layer
        self.name = f"{layer}-degrees"

    def execute(self, simulation: Simulation) -> Row:
        """Count."""
        alive = simulation.overlay.network.alive
        holders, peers, _ = live_links(simulation, self.layer)
        n = alive.size
        live = alive == 1
        out, into = np.bincount(holders, minlength=n)[live], np.bincount(peers, minlength=n)[live]
        return {
            "mean": float(out.mean()),
            "median": float(np.median(out)),
            "p99": float(np.percentile(out, 99)),
            "max": int(out.max()),
            "in_std": float(into.std()),
            "in_min": int(into.min()),
            "in_max": int(into.max()),
            "dead": float((alive[peers] == 0).mean()) if peers.size else 0.0,
        }
