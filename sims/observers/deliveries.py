"""Deliveries of a run: a row per cycle and, where asked for, one per event and one per peer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from sims.engine.control import Row
from sims.engine.simulation import Simulation
from sims.observers.delivery import deliver
from sims.observers.recording import record_cycle
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome
from sub2sub.geometry.boxes import points

__all__ = ["Delivery"]


class Delivery:
    """Publishes the test events over the overlay as it is: hit ratio, hops, messages, spam, load.

    Parameters
    ----------
    events : (m, d) array_like
    settings : DisseminationSettings
    folder : Path
        Of the run.
    details : bool
        Whether to add what became of each event to the table `events`, and every peer's load to `load`.
    """

    name = "delivery"

    def __init__(
        self, events: ArrayLike, settings: DisseminationSettings, folder: Path, details: bool = True
    ) -> None:
        self.events, self.settings, self.folder, self.details = points(events), settings, folder, details

    def execute(self, simulation: Simulation) -> Row:
        """Publish all of them."""
        outcome = deliver(simulation, self.events, self.settings)
        if self.details:
            record_cycle(self.folder, "events", self._events(outcome, simulation.cycle))
            load = {"received": outcome.received, "sent": outcome.forwarded, "taken": outcome.taken}
            record_cycle(self.folder, "load", _numbered(simulation.cycle, "peer", load))
        return {**outcome.summary(), "messages_per_event": float(outcome.messages.mean())}

    def _events(self, outcome: Outcome, cycle: int) -> pa.Table:
        at = {f"point_{k}": self.events[:, k] for k in range(self.events.shape[1])}
        return _numbered(cycle, "event", {**outcome.as_table(), **at})


def _numbered(cycle: int, what: str, columns: dict[str, NDArray[Any]]) -> pa.Table:
    count = len(next(iter(columns.values())))
    return pa.table({"cycle": np.full(count, cycle), what: np.arange(count), **columns})
