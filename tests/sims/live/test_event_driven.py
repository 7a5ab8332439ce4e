"""Experiments driven by events: the same files, whole live nodes under virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sims.config.experiment import experiment_from
from sims.live.event_driven import EventDriven
from sims.runs.folder import RunFolder
from sims.runs.runner import run_experiment
from sub2sub.errors import InputError


def experiment(**more: Any) -> Any:
    data = {"engine": "events", "cycles": 18, "population": {"size": 24}, "workload": {"events": 12}}
    return experiment_from({**data, **more})


def test_rings_form_and_events_reach_all_as_in_the_simulator(tmp_path: Path) -> None:
    ended = run_experiment(experiment(), 1, tmp_path / "events")
    assert ended.numbers["rings_complete"] == 1.0
    assert ended.numbers["hit_ratio"] == 1.0
    assert ended.numbers["spam"] == 0.0
    rings = RunFolder.open(tmp_path / "events").table("rings")
    assert rings["cycle"].to_pylist() == list(range(19))
    assert rings["complete"].to_pylist()[0] == 0.0
    by_cycles = run_experiment(experiment(engine="cycles"), 1, tmp_path / "cycles")
    assert by_cycles.numbers["rings_complete"] == 1.0


def test_one_seed_is_one_run_and_latency_matters() -> None:
    first, again = (EventDriven(experiment(), 3).run() for _ in range(2))
    assert first == again
    assert EventDriven(experiment(latency=[0.3, 0.9]), 3).run()["rings"] != first["rings"]


def test_all_events_are_published_within_a_cycle_however_long_a_search_takes() -> None:
    """One after the other, each search would let cycles of everybody's upkeep pass."""
    driven = EventDriven(experiment(latency=[0.3, 0.5]), 3)
    assert driven.run()["delivery"][0]["hit_ratio"] == 1.0
    assert driven.network.loop.time() < 18 + 1 + 14


def test_crashes_and_loss_happen_and_other_faults_are_refused() -> None:
    faults = [{"kind": "crash", "share": 0.25, "at": 8}, {"kind": "loss", "probability": 0.1, "at": 2}]
    driven = EventDriven(experiment(faults=faults), 1)
    driven.run()
    assert sum(machine.crashed for machine in driven.network.machines) == 0  # all ended with the history
    assert driven.crashed == 6
    assert driven.network.counts["lost"] > 0
    with pytest.raises(InputError, match=r"faults\[0\]\.kind.*crash, loss"):
        EventDriven(experiment(faults=[{"kind": "churn", "share": 0.1}]), 1)
    with pytest.raises(InputError, match="latency"):
        experiment(latency=[0.5, 0.1])
