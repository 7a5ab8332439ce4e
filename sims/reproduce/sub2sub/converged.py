"""An overlay that has settled: where the paper's Figures 7b and 8 start from (Sub-2-Sub, Section 5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.observers import RingCompleteness
from sims.observers.delivery import deliver
from sims.reproduce.registry import Progress
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.errors import InputError
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome
from sub2sub.overlay.overlay import Overlay, OverlaySettings

__all__ = ["converged", "settled_outcomes"]

MOST_CYCLES = 200
EXPECTED_CYCLES = 60  # only for the progress bar


def converged(
    setting: Setting, settings: OverlaySettings | None = None, progress: Callable[[int], None] | None = None
) -> tuple[Simulation[Overlay], NDArray[np.float64]]:
    """A simulation stepped until the rings of all test events are complete; and the test events.

    Raises
    ------
    InputError
        When that takes more than `MOST_CYCLES` cycles.

    Examples
    --------
    >>> simulation, events = converged(Setting("uniform-2", subscribers=100, events=50))
    >>> RingCompleteness(events).execute(simulation)["complete"]
    1.0
    """
    simulation, events = start(setting, settings, every=MOST_CYCLES)
    observer = RingCompleteness(events)
    while observer.execute(simulation)["complete"] != 1.0:
        if simulation.cycle == MOST_CYCLES:
            raise InputError(f"{setting.title}: rings are not complete after {MOST_CYCLES} cycles")
        simulation.step()
        if progress:
            progress(simulation.cycle)
    return simulation, events


def settled_outcomes(
    quick: bool, seed: int, progress: Progress, settings: list[DisseminationSettings]
) -> list[Outcome]:
    """What becomes of the paper's test events on a settled overlay as published, spread in several ways."""
    size = 1_000 if quick else 10_000
    steps = EXPECTED_CYCLES + len(settings)
    simulation, events = converged(
        Setting("power-law-3", size, size, seed),
        OverlaySettings.paper(),
        lambda cycle: progress(min(cycle, EXPECTED_CYCLES), steps),
    )
    outcomes = []
    for number, how in enumerate(settings):
        outcomes.append(deliver(simulation, events, how))
        progress(EXPECTED_CYCLES + number + 1, steps)
    return outcomes
