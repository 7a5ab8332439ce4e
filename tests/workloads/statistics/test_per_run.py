"""Statistics of runs, and the command that prints them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from workloads.cli.stats import stats
from workloads.files.manifest import begin_manifest, write_manifest
from workloads.statistics.intervals import means_over_runs, values_by_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    for number in range(3):
        folder = tmp_path / "runs" / f"seed-{number}"
        folder.mkdir(parents=True)
        final = {"hit_ratio": 0.9 + number / 20, "spam": number}
        write_manifest(folder, {**begin_manifest("run", "mine", state="done"), "final": final})
        (folder / "experiment.toml").write_text(f"[population]\nsize = {100 * (1 + number % 2)}\n")
        cycles = np.arange(4)
        tables = {
            "rings": {"cycle": cycles, "links": rng.random(4), "complete": rng.random(4)},
            "traffic": {
                "cycle": np.repeat(cycles, 2), "layer": ["ring", "cyclon"] * 4, "peers": [10, 20] * 4,
                "messages": rng.integers(1, 99, 8), "failed": rng.integers(0, 9, 8),
                "bytes": rng.integers(1, 999, 8),
            },
            "events": {
                "cycle": [1] * 4 + [3] * 30, "matches": rng.integers(1, 9, 34), "reached": [8] * 34,
                "hops": rng.integers(1, 9, 34),
            },
            "load": {"cycle": [3] * 25, "received": rng.integers(0, 99, 25), "sent": rng.integers(0, 99, 25)},
        }  # fmt: skip
        for name, columns in tables.items():
            pd.DataFrame(columns).to_parquet(folder / f"{name}.parquet")
    return tmp_path / "runs"


def test_the_command_needs_no_spark_and_prints_json(runs: Path, tmp_path: Path) -> None:
    words = [str(runs), "--by", "population.size", "--out", str(tmp_path / "s"), "--json"]
    result = CliRunner().invoke(stats, words)
    assert result.exit_code == 0, result.output
    rows = [row for row in json.loads(result.output)["final"] if row["metric"] == "hit_ratio"]
    assert [(row["group"], row["runs"], round(row["mean"], 3)) for row in rows] == [
        ("population.size 100", 2, 0.95), ("population.size 200", 1, 0.95),
    ]  # fmt: skip


def test_every_run_counts_once_however_many_rows_it_has() -> None:
    frame = pd.DataFrame({"run": ["a", "a", "a", "b"], "x": [1.0, 1.0, 1.0, 3.0]})
    assert means_over_runs(values_by_run(frame, [], ["x"]), [])["mean"].to_pylist() == [2.0]


def test_rings_of_one_length_have_hops_and_no_law(runs: Path, tmp_path: Path) -> None:
    for file in runs.glob("*/events.parquet"):
        pd.read_parquet(file).assign(matches=3).to_parquet(file)
    result = CliRunner().invoke(stats, [str(runs), "--out", str(tmp_path / "s")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "s" / "hops.parquet").exists()
    assert not (tmp_path / "s" / "hops-law.parquet").exists()
