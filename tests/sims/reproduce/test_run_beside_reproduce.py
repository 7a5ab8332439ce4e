"""`sub2sub run NAME` is one unit of `sub2sub reproduce NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sims.config.shipped import shipped
from sims.reproduce import registry
from sims.reproduce.hpmcast import repair
from sims.reproduce.sub2sub import building, under_faults
from sims.runs.runner import start

SAME = ("fig5", "fig6", "fig8", "churn", "crash", "loss", "partition")


def run(name: str, seed: int, folder: Path, changes: dict[str, Any]) -> dict[str, pd.DataFrame]:
    """The tables of `sub2sub run NAME`."""
    experiment, simulation = start(name, seed, folder, changes)
    simulation.run(experiment.cycles)
    return {name: pd.DataFrame(rows) for name, rows in simulation.tables.items()}


def test_names_of_experiments_and_reproductions_are_the_same() -> None:
    names = {"hpmcast-repair", *(f"sub2sub-{name}" for name in SAME)}
    assert names <= shipped().keys() & registry.files().keys()


@pytest.mark.parametrize(("id", "level"), [("sub2sub-crash", 0.2), ("sub2sub-loss", 0.15)])
def test_a_fault_that_is_followed_is_that_of_the_run(id: str, level: float, tmp_path: Path) -> None:
    """The level is the one in the experiment's file."""
    plan = registry.find(id).plan(True, 4)
    fixed = {**plan.fixed, "size": 200, "levels": [level]}
    followed = under_faults.follow(under_faults.EXTENDED, 4, **fixed)
    tables = run(id, 4, tmp_path, {"population.size": 200, "workload.events": 40})
    rings, delivery = (tables[name].set_index("cycle") for name in ("rings", "delivery"))
    at = followed.cycle + (0 if id == "sub2sub-loss" else 40)
    assert at.iloc[-1] == delivery.index[-1]
    assert (followed.rings.to_numpy() == rings.complete[at]).all()
    assert (followed.hit_ratio.to_numpy() == delivery.hit_ratio[at]).all()
    assert followed.failed.max() > 0 or followed.rings.min() < 1.0


def test_rings_are_built_as_in_the_run(tmp_path: Path) -> None:
    built = building.build("least recent partner", "power-law-3", 2, 300)
    changes = {"population.size": 300, "workload.events": 300, "cycles": int(built.cycle.max())}
    rings = run("sub2sub-fig5", 2, tmp_path, changes)["rings"]
    assert built.to_dict("list") == rings[["cycle", "links", "complete"]].to_dict("list")


def test_views_are_repaired_as_in_the_run(tmp_path: Path) -> None:
    repaired = repair.unit(3, a=4, events=2)
    changes = {"population.size": 64, "layers.sizes": [4] * 3, "workload.events": 2}
    views = run("hpmcast-repair", 3, tmp_path, changes)["views"]
    columns = ["whole", "right_1", "right_2", "right_3", "dead", "missing"]
    assert repaired.cycle.tolist() == [cycle - 10 for cycle in views.cycle]
    assert repaired[columns].to_dict("list") == views[columns].to_dict("list")
    assert repaired.whole.min() == 0
