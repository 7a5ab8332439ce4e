"""How fast publishers find a peer that matches their event, with the current views (Sub-2-Sub, Figure 8)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.geometry.boxes import points
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import PublisherSettings


class Publishers:
    """One publisher for each test event starts its search at a random peer.

    Parameters
    ----------
    events : (m, d) array_like
    view, ring_offers, max_steps
        As in `sub2sub.peers.settings.PublisherSettings`.

    Examples
    --------
    >>> import numpy as np
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((100, 2)) * 0.7
    >>> simulation = Simulation(Overlay.of(low, low + 0.3, seed=1))
    >>> simulation.run(20)
    >>> Publishers([[0.5, 0.5], [0.3, 0.4]]).execute(simulation)["found"]
    1.0
    """

    observes = True

    name = "publishers"

    def __init__(
        self, events: ArrayLike, view: int = 20, ring_offers: bool = True, max_steps: int = 40
    ) -> None:
        self.events = points(events)
        self.settings = PublisherSettings(view, ring_offers, max_steps)

    def execute(self, simulation: Simulation[Overlay]) -> Row:
        """Run the search of every publisher."""
        overlay = simulation.overlay
        walks = find_entry(
            Links.of(overlay), overlay.network, self.events,
            settings=self.settings, seed=overlay.seed, cycle=simulation.cycle, scale=overlay.population.scale,
        )  # fmt: skip
        return {
            "found": float(walks.found.mean()),
            "found_within_5": float(walks.found_within(5).mean()),
            "steps_mean": float(walks.steps.mean()),
            "steps_max": int(walks.steps.max()),
            "messages": float(walks.messages.mean()),
        }
