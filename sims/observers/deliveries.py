"""Deliveries of a run: a row per cycle and, where asked for, one per event, per peer, and per reception."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sims.observers.recording import record_cycle
from sub2sub.events.outcome import Outcome

__all__ = ["Deliveries"]


class Publishing(Protocol):
    """What publishes the test events: `sims.systems.System`."""

    @property
    def points(self) -> NDArray[np.float64]:
        """All of them."""
        ...

    def publish_tests(
        self, simulation: Simulation, settings: Any, record: bool = False
    ) -> tuple[NDArray[np.int64], Outcome]:
        """Publish those that can be: their numbers, and what became of them."""
        ...


class Deliveries:
    """Publishes the test events over the overlay as it is: hit ratio, hops, messages, spam, load.

    Parameters
    ----------
    system : object with `points` and `publish_tests`
        What publishes them.
    settings : object
        Its settings of dissemination.
    folder : Path
        Of the run.
    details : bool
        Whether to add what became of each event to the table `events`, and every peer's load to `load`.
    receptions : bool
        Whether to add who got which event at which hop to the table `receptions`.
    """

    name = "delivery"

    def __init__(
        self, system: Publishing, settings: Any, folder: Path, details: bool = True, receptions: bool = False
    ) -> None:
        self.system, self.settings, self.folder = system, settings, folder
        self.details, self.receptions = details, receptions

    def execute(self, simulation: Simulation) -> Row:
        """Publish all of them."""
        events, outcome = self.system.publish_tests(simulation, self.settings, self.receptions)
        if self.details:
            at = self.system.points[events]
            points = {f"point_{k}": at[:, k] for k in range(at.shape[1])}
            load = {"received": outcome.received, "sent": outcome.forwarded, "taken": outcome.taken}
            self._record(simulation, "events", {"event": events, **outcome.as_table(), **points})
            self._record(simulation, "load", {"peer": np.arange(outcome.taken.size), **load})
        if outcome.receptions is not None:
            got = outcome.receptions.table()
            self._record(simulation, "receptions", {**got, "event": events[got["event"]]})
        return outcome.summary()

    def _record(self, simulation: Simulation, name: str, columns: dict[str, NDArray[Any]]) -> None:
        cycle = np.full(len(next(iter(columns.values()))), simulation.cycle)
        record_cycle(self.folder, name, pa.table({"cycle": cycle, **columns}))
