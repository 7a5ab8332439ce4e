"""How many links peers hold, and how many lead to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.errors import InputError
from sub2sub.overlay.layer import Layer

__all__ = ["Degrees", "kinds_of", "live_links"]


def live_links(simulation: Simulation, layer: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(holders, peers, stamps) of one layer's links, of live holders."""
    known = {**{each.name: each for each in simulation.overlay.layers}, **kinds_of(simulation)}
    if layer not in known:
        raise InputError(f"layer = {layer!r}: expected one of {', '.join(known)}")
    holders, peers, stamps = known[layer].links()
    live = simulation.overlay.network.alive[holders] == 1
    return holders[live], peers[live], stamps[live]


def kinds_of(simulation: Simulation) -> Mapping[str, Layer]:
    """Layers by the kind of links they keep: of Sub-2-Sub's overlay by purpose, of others by name."""
    overlay = simulation.overlay
    kinds: Mapping[str, Layer] = getattr(overlay, "kinds", {each.name: each for each in overlay.layers})
    return kinds


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
        if not live.any():  # nobody is left
            out, into = np.zeros(1, np.int64), np.zeros(1, np.int64)
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
