"""Events as traffic: peers learn from event messages that fail.

Observers publish test events without changing the overlay. The events published here do change it. A peer
whose message along a ring link fails probes that neighbour at once, and drops it if it does not answer
(`sub2sub.compiled.ring.probing.unanswered`). With regular events, dead neighbours are dropped long before
their links are too old.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sims.engine.control import Row
from sims.engine.faults import choose
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.ring.probing import unanswered
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import points
from sub2sub.overlay.forgetting import drop_ring_links
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import DisseminationSettings


@dataclass(frozen=True)
class Publish:
    """Publish some of the given events, each from a random subscriber that matches it.

    Attributes
    ----------
    events : (m, d) array_like
    count : int
        Number of events to publish, chosen at random each time; 0 for all.
    settings : DisseminationSettings, optional
    name : str

    Examples
    --------
    >>> from sims.engine import Schedule
    >>> from sims.engine.faults import Crash
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((100, 2)) * 0.7
    >>> controls = [(Schedule(at=20), Crash(0.2)), (Schedule(at=20), Publish([[0.5, 0.5], [0.3, 0.4]]))]
    >>> simulation = Simulation(Overlay.of(low, low + 0.3, seed=1), controls)
    >>> simulation.run(21)
    >>> simulation.tables["publish"][0]["dropped"] > 0
    True
    """

    events: ArrayLike
    count: int = 0
    settings: DisseminationSettings | None = None
    name: str = "publish"

    def __post_init__(self) -> None:
        if not 0 <= self.count <= len(points(self.events)):
            most = len(points(self.events))
            raise InputError(f"{self.name}.count: expected 0 (all) to {most} events, got {self.count}")

    def execute(self, simulation: Simulation[Overlay]) -> Row:
        """Publish the events; peers whose message to a ring neighbour failed probe that neighbour."""
        overlay, cycle, events = simulation.overlay, simulation.cycle, points(self.events)
        if self.count:
            events = events[choose(simulation, self.name, np.arange(len(events)), self.count)]
        seed = int(simulation.key(f"{self.name}/events") >> np.uint64(1))
        outcome = disseminate(
            Links.of(overlay), overlay.network, events, settings=self.settings, seed=seed, cycle=cycle
        )
        silent, probes = unanswered(overlay.network, outcome.failures, seed, cycle, overlay.ring.tries)
        return {
            "events": len(events),
            "hit_ratio": outcome.hit_ratio,
            "messages": int(outcome.messages.sum()),
            "failed": int(outcome.failed.sum()),
            "probes": probes,
            "dropped": drop_ring_links(overlay.ring, silent, cycle),
        }
