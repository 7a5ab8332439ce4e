"""An overlay that has converged: where the paper's Figures 7b and 8 start from (Sub-2-Sub, Section 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.observers import RingCompleteness
from sims.reproduce.sub2sub.setting import Setting, start
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay, OverlaySettings

MOST_CYCLES = 200


def converged(
    setting: Setting, settings: OverlaySettings | None = None
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
    return simulation, events
