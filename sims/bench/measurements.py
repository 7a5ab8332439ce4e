"""Rates of the main steps of a simulation, each the best of several tries after one to warm up.

All with 3 attributes and power law, the paper's main workload. Rates are per second of wall-clock time, of
one thread: a busy machine shows lower ones.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sims.engine import Simulation
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.threads import threads, use_threads
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.geometry.matching import match
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings
from sub2sub.rings.selection import select_ring
from workloads import named

WORKLOAD = "power-law-3"
CYCLES = 20  # of an overlay that is built from nothing
TRIES = 3

Work = Callable[[], float]
"""Does some work, and returns the amount of it."""


@dataclass(frozen=True)
class Measurement:
    """A rate to be measured: `prepare(size)` gives the work, whose amount is counted in `unit`."""

    title: str
    unit: str
    prepare: Callable[[int], Work]


def measure(measurement: Measurement, size: int, tries: int = TRIES) -> float:
    """The best rate of several tries on one core, per second.

    Examples
    --------
    >>> measure(MEASUREMENTS["workload"], 1000, tries=1) > 0
    True
    """
    before = threads()
    use_threads(1)
    try:
        work = measurement.prepare(size)
        work()
        rates = []
        for _ in range(tries):
            began = time.perf_counter()
            done = work()
            rates.append(done / (time.perf_counter() - began))
        return max(rates)
    finally:
        use_threads(before)


def _subscriptions(size: int) -> Work:
    return lambda: float(len(named(WORKLOAD).subscriptions(size, seed=1)[0]))


def _matching(size: int) -> Work:
    lows, highs = named(WORKLOAD).subscriptions(size, seed=1)
    events = named(WORKLOAD).candidates(1, 0, 1_000)

    def work() -> float:
        match(lows, highs, events)
        return float(len(events))

    return work


def _selection(size: int) -> Work:
    candidates = min(size, 200)
    lows, highs = named(WORKLOAD).subscriptions(candidates, seed=1)
    ids = np.random.default_rng(1).permutation(candidates + 1)

    def work() -> float:
        for _ in range(20):
            select_ring([0.3] * 3, [0.7] * 3, int(ids[-1]), lows, highs, ids[:-1])
        return 20.0

    return work


def _overlay(size: int, cycles: int = 2 * CYCLES) -> Overlay:
    """An overlay after some cycles; by default enough to converge."""
    lows, highs = named(WORKLOAD).subscriptions(size, seed=1)
    return Overlay.of(lows, highs, settings=OverlaySettings.paper(), seed=1).run(cycles)


def _cycles(size: int) -> Work:
    return lambda: float(CYCLES * len(_overlay(size, CYCLES).population))


def _delivery(size: int) -> Work:
    overlay = _overlay(size)
    lows, highs = overlay.population.ranges()
    events = named(WORKLOAD).events(1_000, 1, lows, highs)

    def work() -> float:
        outcome = disseminate(Links.of(overlay), overlay.network, events)
        return float(outcome.reached.sum())

    return work


def _checkpoint(size: int) -> Work:
    simulation = Simulation(_overlay(size))

    def work() -> float:
        with tempfile.TemporaryDirectory() as folder:
            simulation.save(Path(folder) / "state.npz")
            return (Path(folder) / "state.npz").stat().st_size / 1e6

    return work


MEASUREMENTS = {
    "workload": Measurement("generate subscriptions", "subscriptions/s", _subscriptions),
    "match": Measurement("find the subscribers of events", "events/s", _matching),
    "select": Measurement("select a ring among 200 candidates", "selections/s", _selection),
    "cycle": Measurement("step an overlay that is being built", "peers/s", _cycles),
    "deliver": Measurement("deliver events on a converged overlay", "deliveries/s", _delivery),
    "checkpoint": Measurement("write a checkpoint", "MB/s", _checkpoint),
}
