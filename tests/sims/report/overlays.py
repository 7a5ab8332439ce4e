"""Small overlays under way, for tests of what is shown of them, and what becomes of their events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.observers.snapshots import links_of, peers_of
from sims.report.overlay import OverlayView, encode
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings

COUNTS = ("reached", "hops", "messages", "local", "duplicates", "spam", "failed", "acks")


def simulation(
    n: int = 120, d: int = 2, cycles: int = 8, seed: int = 1, dead: float = 0.0, shared: bool = False
) -> Simulation:
    """Boxes of up to half the space gossip for a few cycles; then a share of them crashes."""
    draws = np.random.default_rng(seed)
    low = draws.random((n, d)) * 0.8
    high = np.minimum(low + draws.random((n, d)) * 0.5, 1.0)
    hosts = draws.integers(0, n // 2, n) if shared else None
    overlay = Overlay(Population.of(low, high, hosts=hosts, seed=seed), seed=seed)
    run = Simulation(overlay)
    overlay.bootstrap()
    run.run(cycles)
    overlay.network.alive[draws.random(n) < dead] = 0
    return run


def recorded(run: Simulation, **options: Any) -> OverlayView:
    """What a page would hold of it."""
    return encode(peers_of(run), links_of(run), seed=run.overlay.seed, **options)


def python_counts(
    run: Simulation, points: NDArray[np.float64], settings: DisseminationSettings, entry: Any = None
) -> list[dict[str, int]]:
    """What becomes of events in the library."""
    overlay = run.overlay
    outcome = disseminate(
        Links.of(overlay), overlay.network, points, entry=entry, settings=settings, seed=overlay.seed,
        cycle=run.cycle,
    )  # fmt: skip
    names = ("matches", *COUNTS)
    return [{name: int(getattr(outcome, name)[e]) for name in names} for e in range(len(points))]
