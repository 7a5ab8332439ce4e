"""Links of one layer: out-degree and in-degree of peers, and the ages of links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.layer import Layer
from sub2sub.errors import InputError


def live_links(simulation: Simulation, layer: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Links of one layer that live peers hold, as (holders, peers, stamps)."""
    known = {**{each.name: each for each in simulation.overlay.layers}, **kinds_of(simulation)}
    if layer not in known:
        raise InputError(f"layer = {layer!r}: expected one of {', '.join(known)}")
    holders, peers, stamps = known[layer].links()
    live = simulation.overlay.network.alive[holders] == 1
    return holders[live], peers[live], stamps[live]


def kinds_of(simulation: Simulation) -> Mapping[str, Layer]:
    """Layers by kind of link: by purpose in the overlay of Sub-2-Sub, by layer name in others."""
    overlay = simulation.overlay
    kinds: Mapping[str, Layer] = getattr(overlay, "kinds", {each.name: each for each in overlay.layers})
    return kinds


class LayerObserver:
    """An observer of one layer's links.

    Parameters
    ----------
    layer : str
        The layer whose links are observed.
    """

    observes = True

    kind: ClassVar[str]

    def __init__(self, layer: str) -> None:
        self.layer, self.name = layer, f"{layer}-{self.kind}"


class Degrees(LayerObserver):
    """Out-degree and in-degree of live peers in one layer, and the links to dead peers."""

    kind = "degrees"

    def execute(self, simulation: Simulation) -> Row:
        """Count the links."""
        alive = simulation.overlay.network.alive
        holders, peers, _ = live_links(simulation, self.layer)
        n = alive.size
        live = alive == 1
        out, into = np.bincount(holders, minlength=n)[live], np.bincount(peers, minlength=n)[live]
        if not live.any():  # no peer is left
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


class LinkAges(LayerObserver):
    """Ages of one layer's links: the cycles since their peer was last heard from."""

    kind = "ages"

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
