"""A custom observer: how many ring links (a, b) have the reverse link (b, a), cycle by cycle.

An observer is any object with a `name` and `execute(simulation)`, which returns a row of the table `name`.
"""

from __future__ import annotations

import numpy as np

from sims.engine import Schedule, Simulation
from sims.observers.degrees import live_links
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from workloads import named


class Mutual:
    """Share of ring links (a, b) such that b has a link to a."""

    name = "mutual"
    observes = True

    def execute(self, simulation: Simulation) -> dict[str, float]:
        """Count them."""
        holders, peers, _ = live_links(simulation, "ring")
        n = len(simulation.overlay.population)
        return {"share": float(np.isin(holders * n + peers, peers * n + holders).mean())}


def main() -> None:
    """Watch the rings of a thousand peers."""
    lows, highs = named("power-law-2").subscriptions(1_000, seed=1)
    overlay = Overlay(Population.of(lows, highs, seed=1), seed=1)
    overlay.bootstrap()
    simulation = Simulation(overlay, [(Schedule(start=1, every=6), Mutual())])
    simulation.run(25)
    for row in simulation.tables["mutual"]:
        print(f"cycle {row['cycle']:2}: {row['share']:.0%} of the ring links are known at both ends")


if __name__ == "__main__":
    main()
