"""Real membership tables when every fifth participant crashes (hpmcast, Sections 4.2 and 6.1.3).

`sub2sub run hpmcast-repair` with another observer: 10,648 participants (a = 22, l = 3, R = 3) with ranges as
interests keep their tables by gossip-pull. They start with exact tables, and 20 % crash at once. Measured in
each cycle: the share of views that are exactly right, the share of their entries that are dead, and the
delivery of events over these views and over exact views of the live participants. Gossip has F = 2 and c = 3,
so that delivery can recover to a high level.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import Knowledge, disseminate
from sims.engine.control import Row
from sims.observers.deliveries import Deliveries
from sims.reproduce.claims import Claims, claim, last_cycle, worst_seed
from sims.reproduce.reproduction import Tables
from sims.runs.runner import start

LEVEL = 0.002  # delivery is back when it is this close to that of exact views


def unit(seed: int, a: int, events: int) -> pd.DataFrame:
    """A row per cycle, counted from the crash."""
    changes = {"population.size": a**3, "layers.sizes": [a] * 3, "workload.events": events}
    begun: Any = start("hpmcast-repair", seed, Path("unused"), changes)
    experiment, simulation = begun
    points = next(each for _, each in simulation.observers if isinstance(each, Deliveries)).system.points

    def health(simulation: Any) -> Row:
        """Deliver over the tables as they are, and over those that the living should have."""
        layer, alive = simulation.overlay.membership, simulation.overlay.network.alive
        kinds = {"delivery": layer.knowledge(), "exact": layer.exact(alive)}
        return {name: _delivery(known, simulation, points, experiment) for name, known in kinds.items()}

    simulation.observers = [(when, each) for when, each in simulation.observers if each.name == "views"]
    simulation.observe(health).run(experiment.cycles)
    views, rows = (pd.DataFrame(simulation.tables[name]) for name in ("views", "health"))
    (crash,) = (schedule.at for schedule, _ in simulation.faults)
    return views.merge(rows, on="cycle").assign(cycle=rows.cycle - crash)


def _delivery(known: Knowledge, simulation: Any, points: NDArray[np.float64], experiment: Any) -> float:
    views, network, delivered = known.views(), simulation.overlay.network, []
    lows, highs = (simulation.overlay.membership.voters.own[:, side] for side in (0, 1))
    for k, event in enumerate(points):
        wants = ((lows <= event) & (event < highs)).all(axis=1)
        generator = np.random.Generator(np.random.Philox(key=[simulation.overlay.seed, k]))
        publisher = int(generator.choice(np.flatnonzero(network.alive)))
        outcome = disseminate(
            views, known.match(event), publisher, experiment.dissemination, network=network,
            seed=simulation.overlay.seed, event=k,
        )  # fmt: skip
        delivered.append(outcome.trace.delivery(wants))
    return float(np.mean(delivered))


def _repaired(run: pd.DataFrame, short: pd.Series[bool]) -> float:
    """Cycles after the crash from which on nothing falls short; infinite if something does to the end."""
    return last_cycle(run.cycle, short & (run.cycle >= 0), -1.0) + 1


def judge(tables: Tables) -> Claims:
    """How long until views and delivery are what they should be, in the worst seed."""
    runs = [run for _, run in tables["repair"].groupby("seed")]
    after = [run.delivery[run.cycle >= 0] for run in runs]
    ends = {"lowest": [own.min() for own in after], "at the end": [own.iloc[-1] for own in after]}
    yield worst_seed("views", [_repaired(run, run.whole < 1) for run in runs])
    yield worst_seed("delivery", [_repaired(run, run.delivery < run.exact - LEVEL) for run in runs])
    yield claim("ends", {name: np.round(values, 4).tolist() for name, values in ends.items()})
