"""Real membership tables when every fifth participant crashes (hpmcast, Sections 4.2 and 6.1.3).

10,648 participants (a = 22, l = 3, R = 3) with ranges as interests keep their tables by gossip-pull. They
start with exact tables, and 20 % crash at once. Measured in each cycle: the share of views that are exactly
right, the share of their entries that are dead, and the delivery of events over these views and over exact
views of the live participants. Gossip has F = 2 and c = 3, so that delivery can recover to a high level.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import AddressSpace, Gossip, Hierarchy, Knowledge, disseminate
from hierarchy.hpmcast.membership.audit import audit
from sims.engine import Schedule, Simulation
from sims.engine.control import Row
from sims.engine.faults import Crash
from sims.reproduce.claims import Claims, claim, last_cycle, worst_seed
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.network import Network
from sub2sub.geometry.boxes import Boxes
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

LEVELS, CRASHED = 3, 0.2
GOSSIP = Gossip(fanout=2, constant=3.0)
CRASH, LAST = 10, 60  # cycles
LEVEL = 0.002  # delivery is back when it is this close to that of exact views


def _subscribers(n: int, generator: np.random.Generator) -> Population:
    """Ranges of a topic-like attribute, most of them narrow; participant x has address x."""
    centre, width = generator.random((n, 1)), generator.random((n, 1)) ** 2
    return Population.of(centre - width / 3, centre + width / 3, ids=np.arange(n))


def _delivery(
    knowledge: Knowledge, interests: Boxes, network: Network, events: NDArray[np.float64], seed: int
) -> float:
    views = knowledge.views()
    delivered = []
    for k, event in enumerate(events):
        wants = ((interests[0] <= event) & (event < interests[1])).all(axis=1)
        generator = np.random.Generator(np.random.Philox(key=[seed, k]))
        publisher = int(generator.choice(np.flatnonzero(network.alive)))
        hit = knowledge.match(event)
        outcome = disseminate(views, hit, publisher, GOSSIP, network=network, seed=seed, event=k)
        delivered.append(outcome.trace.delivery(wants))
    return float(np.mean(delivered))


class _Health:
    """Observer: how right the views are, and what they deliver beside exact ones."""

    name = "health"
    observes = True

    def __init__(self, overlay: Hierarchy, events: NDArray[np.float64]) -> None:
        self.overlay, self.events = overlay, events

    def execute(self, simulation: Simulation) -> Row:
        """Compare with the views that the living should have."""
        layer, network = self.overlay.membership, self.overlay.network
        interests = (layer.voters.own[:, 0], layer.voters.own[:, 1])
        known, exact = layer.knowledge(), layer.exact(network.alive)
        found = audit(known.views(), exact.views(), network.alive)
        arguments = (interests, network, self.events, simulation.overlay.seed)
        return {
            "whole": found.whole,
            **{f"right_{i + 1}": float(share) for i, share in enumerate(found.right)},
            "dead": found.dead,
            "delivery": _delivery(known, *arguments),
            "exact": _delivery(exact, *arguments),
        }


def unit(seed: int, a: int, events: int) -> pd.DataFrame:
    """A row per cycle."""
    generator = np.random.Generator(np.random.Philox(seed))
    space = AddressSpace((a,) * LEVELS)
    overlay = Hierarchy(_subscribers(space.capacity, generator), space, seed=seed)
    overlay.settle()
    # It has what the engine needs (`Simulated`).
    controls: list[tuple[Schedule, Any]] = [
        (Schedule(at=CRASH), Crash(CRASHED)), (Schedule(), _Health(overlay, generator.random((events, 1)))),
    ]  # fmt: skip
    simulation = Simulation(cast(Overlay, overlay), controls)
    simulation.run(LAST)
    frame = pd.DataFrame(simulation.tables["health"])
    return frame.assign(cycle=frame.cycle - CRASH)


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
