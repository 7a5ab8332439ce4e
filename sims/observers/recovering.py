"""The share of the subscribers that receive an event, by dissemination or by recovery in later cycles.

Publishers search for a matching peer, and the events are then the overlay's recent events
(`layers.recovery`). The table has a row for each cycle and each number of cycles since publication; the cost
is in `traffic`, layer `recovery`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sims.engine.faults import choose
from sims.engine.simulation import Simulation
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import points
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import DisseminationSettings


class Recovering:
    """Publish some of the test events; count the subscribers that have those of the last cycles.

    Parameters
    ----------
    events : (m, d) array_like
    settings : DisseminationSettings
    count : int
        Events to publish each time, chosen at random; all if there are fewer.
    name : str
        Name of the table.

    Examples
    --------
    >>> from sub2sub.peers.settings import RecoverySettings
    >>> from sub2sub.peers.settings import OverlaySettings
    >>> settings = OverlaySettings(recovery=RecoverySettings())
    >>> overlay = Overlay.of(np.zeros((20, 1)), np.ones((20, 1)), settings=settings, seed=1).run(7)
    >>> overlay.network.loss = 0.7
    >>> simulation = Simulation(overlay).add(Recovering([[0.5]]), start=8)
    >>> simulation.run(12)
    >>> rows = simulation.tables["recovery"]
    >>> rows[0]["share"] < rows[-1]["share"], rows[-1]["waited"], rows[-1]["wanted"]
    (True, 4, 20)
    """

    observes = True

    def __init__(
        self,
        events: ArrayLike,
        settings: DisseminationSettings | None = None,
        count: int = 100,
        name: str = "recovery",
    ) -> None:
        if count < 1:
            raise InputError(f"{name}.count: expected 1 or more events, got {count}")
        self.events, self.settings, self.count, self.name = points(events), settings, count, name

    def execute(self, simulation: Simulation[Overlay]) -> None:
        """Publish, and write a row for each cycle since which events are kept."""
        overlay, cycle = simulation.overlay, simulation.cycle
        if overlay.recent_events is None:
            raise InputError(f"{self.name}: expected layers.recovery.history above 0, got 0")
        some = choose(simulation, self.name, np.arange(len(self.events)), self.count)
        seed = int(simulation.key(f"{self.name}/events") >> np.uint64(1))
        links, network, events = Links.of(overlay), overlay.network, self.events[some]
        entry = find_entry(
            links, network, events, seed=seed, cycle=cycle, scale=overlay.population.scale
        ).entry
        events, entry = events[entry >= 0], entry[entry >= 0]  # a publisher knows that its search failed
        outcome = disseminate(
            links, network, events, entry=entry, settings=self.settings, seed=seed, cycle=cycle, record=True
        )
        overlay.recent_events.publish(events, outcome, cycle)
        for waited, had in sorted(overlay.recent_events.shares(cycle).items()):
            share = had.has / had.wanted if had.wanted else 1.0
            simulation.record(
                self.name, {"waited": waited, "wanted": had.wanted, "has": had.has, "share": share}
            )
