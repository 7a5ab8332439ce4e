"""The setting of Sub-2-Sub's evaluation (Sub-2-Sub, Section 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sims.engine import Schedule, Simulation
from sims.engine.control import Control
from sims.observers import RingCompleteness
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population
from workloads import named


@dataclass(frozen=True)
class Setting:
    """How many subscribers and test events, of which workload, and the seed of everything.

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
    setting: Setting,
    settings: OverlaySettings | None = None,
    controls: list[tuple[Schedule, Control[Overlay]]] | None = None,
    spare: int = 0,
    every: int = 1,
) -> tuple[Simulation[Overlay], NDArray[np.float64]]:
    """A simulation at cycle 0, everybody with one random link, its rings observed; and the test events."""
    spec = named(setting.workload)
    lows, highs = spec.subscriptions(setting.subscribers, setting.seed)
    events = spec.events(setting.events, setting.seed, lows, highs, at_least=2)
    population = Population.of(lows, highs, spare=spare, seed=setting.seed)
    overlay = Overlay(population, settings, seed=setting.seed)
    overlay.bootstrap()
    observed: list[tuple[Schedule, Control[Overlay]]] = [(Schedule(every=every), RingCompleteness(events))]
    return Simulation(overlay, [*(controls or []), *observed]), events
