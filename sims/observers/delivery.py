"""Delivery of test events, each published from a random subscriber that matches it."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.geometry.boxes import points
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import DisseminationSettings


def deliver(
    simulation: Simulation[Overlay], events: ArrayLike, settings: DisseminationSettings | None = None
) -> Outcome:
    """Publish events on the current overlay without changing it; return their outcome."""
    overlay = simulation.overlay
    return disseminate(
        Links.of(overlay),
        overlay.network,
        events,
        settings=settings,
        seed=overlay.seed,
        cycle=simulation.cycle,
    )


class Delivery:
    """Hit ratio, completeness, hops, cost and load of test events: `sub2sub.compiled.events.outcome.Outcome`.

    Parameters
    ----------
    events : (m, d) array_like
    settings : DisseminationSettings
    name : str
        Name of the table; give different names to several such observers.

    Examples
    --------
    >>> import numpy as np
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((100, 2)) * 0.7
    >>> simulation = Simulation(Overlay.of(low, low + 0.3, seed=1))
    >>> simulation.run(20)
    >>> Delivery([[0.5, 0.5], [0.3, 0.4]]).execute(simulation)["hit_ratio"]
    1.0
    """

    observes = True

    def __init__(
        self, events: ArrayLike, settings: DisseminationSettings | None = None, name: str = "delivery"
    ) -> None:
        self.events, self.settings, self.name = points(events), settings, name

    def execute(self, simulation: Simulation[Overlay]) -> Row:
        """Publish all test events."""
        return deliver(simulation, self.events, self.settings).summary()
