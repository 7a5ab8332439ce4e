"""Deliveries in a run: one row per cycle and, optionally, one per event, per peer and per reception."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sims.observers.snapshots import record_cycle
from sub2sub.compiled.events.outcome import Outcome


class Publishing(Protocol):
    """A system that publishes the test events, such as `sims.rivals.System`."""

    @property
    def points(self) -> NDArray[np.float64]:
        """All test events."""

    def publish_tests(
        self, simulation: Simulation, settings: Any, record: bool = False
    ) -> tuple[NDArray[np.int64], Outcome]:
        """Publish the test events that can be published; return their numbers and their outcome."""


class Deliveries:
    """Publish the test events on the current overlay; measure hit ratio, hops, messages, spam and load.

    Parameters
    ----------
    system : object with `points` and `publish_tests`
        The system that publishes the test events.
    settings : object
        Its dissemination settings.
    folder : Path
        The run folder.
    details : bool
        Whether to add the outcome of each event to the table `events`, and the load of each peer to `load`.
    receptions : bool
        Whether to add which peer received which event at which hop to the table `receptions`.
    """

    observes = True

    name = "delivery"

    def __init__(
        self, system: Publishing, settings: Any, folder: Path, details: bool = True, receptions: bool = False
    ) -> None:
        self.system, self.settings, self.folder = system, settings, folder
        self.details, self.receptions = details, receptions

    def execute(self, simulation: Simulation) -> Row:
        """Publish all test events."""
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
