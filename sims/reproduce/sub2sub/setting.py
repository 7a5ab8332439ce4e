"""The setting of Sub-2-Sub, Section 5, and the converged overlay that its Figures 7b and 8 start from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sims.engine import Schedule, Simulation
from sims.observers import RingCompleteness
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings
from workloads import named

MOST_CYCLES = 200


@dataclass(frozen=True)
class Setting:
    """The workload, the numbers of subscribers and test events, and the random seed.

    Examples
    --------
    >>> Setting("power-law-3", subscribers=500, events=100).title
    '3 attributes, power law'
    """

    workload: str
    subscribers: int = 10_000
    events: int = 10_000
    seed: int = 1

    @property
    def title(self) -> str:
        """What a figure calls the workload."""
        kind, attributes = self.workload.rsplit("-", 1)
        return f"{attributes} attribute{'s' if attributes != '1' else ''}, {kind.replace('-', ' ')}"


def start(
    setting: Setting, settings: OverlaySettings | None = None, spare: int = 0
) -> tuple[Simulation[Overlay], NDArray[np.float64]]:
    """A simulation at cycle 0, with one random link per peer and observed rings; and the test events."""
    spec = named(setting.workload)
    lows, highs = spec.subscriptions(setting.subscribers, setting.seed)
    events = spec.events(setting.events, setting.seed, lows, highs, at_least=2)
    overlay = Overlay.of(lows, highs, settings=settings, spare=spare, seed=setting.seed)
    return Simulation(overlay, [(Schedule(), RingCompleteness(events))]), events


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
    simulation, events = start(setting, settings)
    observer = RingCompleteness(events)
    while observer.execute(simulation)["complete"] != 1.0:
        if simulation.cycle == MOST_CYCLES:
            raise InputError(f"{setting.title}: rings are not complete after {MOST_CYCLES} cycles")
        simulation.step()
    return simulation, events
