"""The hpmcast hierarchy under the engine: every fault, and a resumed run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hierarchy.hpmcast import AddressSpace, Hierarchy
from hierarchy.hpmcast.membership.audit import audit
from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn, Crash, Loss, Partition, Recover, Resubscribe
from sims.observers import Degrees
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population

SPACE = AddressSpace((6, 6, 6))


def hierarchy(seed: int, dormant: int = 0) -> Hierarchy:
    low = np.random.default_rng(seed).random((216, 1))
    people = Population.of(low, low + 0.1, ids=np.arange(216))
    people.row[np.random.default_rng(seed).permutation(216)[:dormant]] = -1
    return Hierarchy(people, SPACE, seed=seed)


def whole(overlay: Hierarchy) -> float:
    layer, alive = overlay.membership, overlay.network.alive
    return audit(layer.knowledge().views(), layer.exact(alive).views(), alive).whole


@pytest.mark.parametrize(
    "faults",
    [
        [(20, Crash(0.2)), (60, Recover())],
        [(20, Partition(2)), (50, Partition(1))],
        [(20, Churn(0.2))],
        [(20, Resubscribe(0.1))],
        [(0, Loss(0.1)), (40, Loss(0.0))],
    ],
    ids=["crash and recovery", "partition and merger", "churn", "changed subscriptions", "loss"],
)
def test_views_are_right_again_some_time_after_every_fault(faults) -> None:
    overlay = hierarchy(seed=1, dormant=50)
    simulation = Simulation(overlay, [(Schedule(at=cycle), fault) for cycle, fault in faults])
    overlay.bootstrap()
    simulation.run(160)
    assert whole(overlay) == 1.0


def test_newcomers_are_known_with_the_interest_they_come_with() -> None:
    overlay = hierarchy(seed=2, dormant=50)
    simulation = Simulation(overlay, [(Schedule(at=20), Resubscribe(0.2))])
    overlay.bootstrap()
    simulation.run(100)
    known, alive = overlay.membership.knowledge(), overlay.network.alive == 1
    low, high = overlay.population.ranges()
    for event in np.random.default_rng(2).random((20, 1)):
        wants = ((low <= event) & (event <= high)).all(axis=1) & alive
        top = known.match(event)[known.first_lines[2] :].reshape(216, 6)[alive]
        assert top[:, np.flatnonzero(wants) // 36].all()


def test_a_resumed_run_equals_the_one_never_interrupted(tmp_path: Path) -> None:
    def start() -> Simulation:
        return Simulation(hierarchy(seed=3), [(Schedule(at=5), Crash(0.1)), (Schedule(), Degrees("hpmcast"))])

    simulation, resumed = start(), start()
    simulation.overlay.bootstrap()
    simulation.run(12)
    simulation.save(tmp_path / "state")
    simulation.run(30)
    resumed.load(tmp_path / "state")
    resumed.run(30)
    assert simulation.tables == resumed.tables
    for layer, other in zip(simulation.overlay.layers, resumed.overlay.layers, strict=True):
        for name, array in layer.arrays().items():
            assert (array == other.arrays()[name]).all(), name


def test_addresses_outside_the_space_are_refused() -> None:
    people = Population.of([[0.0], [0.5]], [[0.1], [0.6]], ids=[3, 216])
    with pytest.raises(InputError, match="ids row 1: expected below 216, got 216"):
        Hierarchy(people, SPACE)
