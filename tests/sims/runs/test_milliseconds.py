"""A run on a network with latencies writes milliseconds beside hops."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sims.config.experiment import experiment_from
from sims.runs.runner import simulation_of
from sub2sub.errors import InputError

SMALL = {
    "cycles": 6,
    "population": {"size": 60},
    "workload": {"spec": "power-law-1", "events": 20},
    "observers": [{"kind": "delivery", "at": 6, "receptions": True}],
}


def run(folder: Path, **more: object) -> dict[str, object]:
    experiment = experiment_from({**SMALL, **more})
    simulation = simulation_of(experiment, seed=1, folder=folder)
    simulation.overlay.bootstrap()
    simulation.run(experiment.cycles)
    return dict(simulation.tables["delivery"][-1])


def test_tables_have_milliseconds_with_a_network_and_hops_always(tmp_path: Path) -> None:
    network = {"latency": "constant", "ms": 30.0, "jitter": 0.0, "bandwidth": 0.0}
    hops = run(tmp_path / "hops")
    timed = run(tmp_path / "timed", network=network)
    assert "last_ms_max" not in hops
    assert timed["last_ms_max"] == 30.0 * float(str(hops["hops_max"]))
    assert {name: timed[name] for name in hops} == pytest.approx(
        hops, nan_ok=True
    )  # equal latencies are hops
    for folder, column in (("hops", False), ("timed", True)):
        events, got = (
            pq.read_table(tmp_path / folder / f"{name}.parquet") for name in ("events", "receptions")
        )
        assert ("last_ms" in events.column_names) is column
        assert ("ms" in got.column_names) is column
    assert (got["ms"].to_numpy() == 30.0 * got["hop"].to_numpy()).all()


def test_a_file_of_regions_that_is_missing_is_refused_before_anything_runs(tmp_path: Path) -> None:
    network = {"latency": "regions", "regions": str(tmp_path / "none.csv")}
    with pytest.raises(InputError, match=r"network\.regions: expected a CSV file"):
        run(tmp_path, network=network)
