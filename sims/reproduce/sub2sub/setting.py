"""The setting of Sub-2-Sub, Section 5: shipped experiments with some settings changed, run by the simulator.

`sub2sub run NAME` runs the same experiment that a unit of `sub2sub reproduce NAME` steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.observers import RingCompleteness
from sims.runs.runner import start
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay

MOST_CYCLES = 200
PAPER = {"layers.base": "paper", "dissemination.base": "paper"}
RINGS = {"observers": [{"kind": "rings"}]}


def begin(name: str, seed: int, size: int, events: int, changes: Mapping[str, Any]) -> Simulation[Overlay]:
    """An experiment that comes with the package, at cycle 0, with some settings changed by their keys."""
    population = {"population.size": size, "workload.events": events}
    _, simulation = start(name, seed, Path("unused"), population | dict(changes))
    return simulation  # type: ignore[return-value]


def observed_events(simulation: Simulation[Overlay]) -> NDArray[np.float64]:
    """The test events that its rings are observed with."""
    return next(each.events for _, each in simulation.observers if isinstance(each, RingCompleteness))


def converged(
    name: str, seed: int, size: int, changes: Mapping[str, Any]
) -> tuple[Simulation[Overlay], NDArray[np.float64]]:
    """An experiment with complete rings of all test events, and these, as many as peers.

    Raises
    ------
    InputError
        When that takes more than `MOST_CYCLES` cycles.

    Examples
    --------
    >>> simulation, events = converged("sub2sub-fig7", 1, 100, {"workload.spec": "uniform-2"})
    >>> RingCompleteness(events).execute(simulation)["complete"]
    1.0
    """
    simulation = begin(name, seed, size, size, {**changes, **RINGS})
    events = observed_events(simulation)
    simulation.observers.clear()
    observer = RingCompleteness(events)
    while observer.execute(simulation)["complete"] != 1.0:
        if simulation.cycle == MOST_CYCLES:
            raise InputError(f"{name}: rings are not complete after {MOST_CYCLES} cycles")
        simulation.step()
    return simulation, events
