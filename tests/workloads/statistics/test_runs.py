"""Statistics over many runs agree with NumPy and SciPy, whatever files and groups the runs come in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats

from sub2sub.errors import InputError
from workloads.statistics.intervals import means_over_runs, values_by_run
from workloads.statistics.run_folders import find_runs, grouped
from workloads.statistics.runs import (
    describe_runs,
    write_run_statistics,
    write_sweep_statistics,
)
from workloads.sweeps.sweep import Sweep, sweep

RUN = "tests.workloads.sweeps.sweep_runs:product"
MakeRun = Callable[..., Path]
CYCLES = 3


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Writes a run folder with invented numbers."""

    def make(name: str, seed: int, size: int = 10, state: str = "done", hops: str = "hops") -> Path:
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        rng = np.random.default_rng(seed)
        manifest = {"format": 1, "kind": "run", "name": "made", "state": state, "seed": seed}
        manifest |= {"final": {"hit_ratio": rng.random(), "spam": 0, "note": "text", "good": True}}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        (folder / "experiment.toml").write_text(f"[population]\nsize = {size}\n")
        cycle = np.arange(CYCLES)
        tables = {
            "rings": {"cycle": cycle, "links": rng.random(CYCLES), "complete": rng.random(CYCLES)},
            "delivery": {"cycle": [2], "hit_ratio": [rng.random()], "hops_mean": [float("nan")]},
            "traffic": {"cycle": [1, 1], "layer": ["ring", "cyclon"], "peers": [4, 4], "messages": [8, 4],
                        "failed": [0, 1], "bytes": [80, 40]},
            "events": {"cycle": np.repeat([1, 2], 40), "event": np.tile(np.arange(40), 2),
                       "matches": rng.integers(2, 9, 80), "reached": np.repeat([0, 9], 40),
                       hops: rng.integers(1, 5, 80)},
            "load": {"cycle": np.repeat([1, 2], 30), "peer": np.tile(np.arange(30), 2),
                     "received": rng.integers(0, 50, 60), "sent": rng.integers(0, 50, 60)},
        }  # fmt: skip
        for table, columns in tables.items():
            parquet.write_table(pa.table(columns), folder / f"{table}.parquet")
        return folder

    return make


def by_scipy(values: Any, most: float = np.inf) -> tuple[float, float, float]:
    """Mean and Student's interval, not below 0 where no value is, and at most `most`."""
    sample = np.asarray(values, float)
    low, high = stats.t.interval(0.95, len(sample) - 1, sample.mean(), stats.sem(sample))
    low = max(0.0, float(low)) if sample.min() >= 0 else float(low)
    return float(sample.mean()), low, min(most, float(high))


def cell(table: pa.Table, **keys: object) -> tuple[float, float, float]:
    (row,) = [row for row in table.to_pylist() if all(row[key] == value for key, value in keys.items())]
    return row["mean"], row["low"], row["high"]


def test_means_over_runs_have_students_interval() -> None:
    values = np.random.default_rng(1).normal(10, 2, (6, 2))
    runs = []
    for run, (first, second) in enumerate(values):
        # Two rows of cycle 1 in each run count as one observation.
        rows = {"cycle": [0, 1, 1], "its.hits": [first, second - 1, second + 1], "spam": [0, 0, None]}
        runs.append(pd.DataFrame(rows).assign(run=run))
    by_run = values_by_run(pd.concat(runs), ["cycle"], ["its.hits", "spam"])
    table = means_over_runs(by_run, ["cycle"]).to_pylist()
    assert [(row["cycle"], row["metric"], row["runs"]) for row in table] == [
        (0, "its.hits", 6), (0, "spam", 6), (1, "its.hits", 6), (1, "spam", 6),
    ]  # fmt: skip
    for row, sample in zip((table[0], table[2]), values.T, strict=True):
        assert (row["mean"], row["low"], row["high"]) == pytest.approx(by_scipy(sample))
        assert (row["least"], row["greatest"]) == pytest.approx((sample.min(), sample.max()))
    single = means_over_runs(values_by_run(runs[0], [], ["its.hits"]), []).to_pylist()
    assert (single[0]["runs"], single[0]["low"], single[0]["high"]) == (1, None, None)


def test_intervals_stay_within_what_a_quantity_can_be() -> None:
    rows = [("a", 1.0, 0.0, 1.0, -1.0), ("b", 0.9, 0.1, 3.0, 1.0), ("c", 0.2, 0.0, 2.0, 9.0)]
    metrics = ["hit_ratio", "spam", "hops", "gain"]
    values = values_by_run(pd.DataFrame(rows, columns=["run", *metrics]), [], metrics)
    found = {row["metric"]: row for row in means_over_runs(values, []).to_pylist()}
    assert (found["hit_ratio"]["high"], found["spam"]["low"], found["hops"]["low"]) == (1.0, 0.0, 0.0)
    assert found["hops"]["high"] == pytest.approx(by_scipy([1, 3, 2])[2])
    assert found["gain"]["low"] < -1.0


def test_runs_are_described_by_what_their_tables_say(make_run: MakeRun) -> None:
    folders = [make_run(f"seed {seed}", seed) for seed in range(5)]
    found = describe_runs(find_runs([folders[0].parent]))
    read = {name: [parquet.read_table(f / f"{name}.parquet").to_pandas() for f in folders]
            for name in ("rings", "events", "load")}  # fmt: skip
    complete = [table.loc[table["cycle"] == 2, "complete"].item() for table in read["rings"]]
    assert cell(found["completeness"], cycle=2, metric="complete") == pytest.approx(
        by_scipy(complete, most=1)
    )
    last = [table[table["cycle"] == 2] for table in read["events"]]
    hops = [table.loc[table["matches"] == 5, "hops"].mean() for table in last]
    assert cell(found["hops"], length=5) == pytest.approx(by_scipy([x for x in hops if not np.isnan(x)]))
    slopes = [stats.linregress(np.log2(table["matches"]), table["hops"]).slope for table in last]
    assert cell(found["hops-law"], metric="slope") == pytest.approx(by_scipy(slopes))
    lengths = found["lengths"]
    assert lengths["length"].to_pylist() == list(range(2, 9))
    assert (
        lengths["events"].to_pylist()
        == np.bincount(np.concatenate([t["matches"] for t in last]))[2:].tolist()
    )
    loads = [table.loc[table["cycle"] == 2, "sent"].quantile(0.9) for table in read["load"]]
    assert cell(found["load"], quantile=0.9, metric="sent") == pytest.approx(by_scipy(loads))
    assert cell(found["traffic"], layer="ring", metric="bytes_per_peer")[0] == 20.0
    finals = [json.loads((f / "manifest.json").read_text())["final"]["hit_ratio"] for f in folders]
    assert cell(found["final"], metric="hit_ratio") == pytest.approx(by_scipy(finals, most=1))
    assert set(found["final"]["metric"].to_pylist()) == {"hit_ratio", "spam"}
    assert "hops_mean" not in found["deliveries"]["metric"].to_pylist()  # NaN in every run


def test_groups_are_averaged_apart_and_unfinished_runs_left_out(make_run: MakeRun) -> None:
    for seed in range(4):
        make_run(f"small/{seed}", seed, size=10)
        root = make_run(f"large/{seed}", 10 + seed, size=99).parent.parent
    make_run("small/late", 7, state="interrupted")
    out = write_run_statistics([root], root / "statistics", by=["population.size"])
    table = parquet.read_table(out / "completeness.parquet").to_pandas()
    assert set(table["group"]) == {"population.size 10", "population.size 99"}
    assert set(table["runs"]) == {4}
    text = (out / "statistics.md").read_text()
    assert "8 runs of 2 groups" in text
    assert "1 runs that are not done were left out" in text
    figures = {"completeness.png", "deliveries.png", "hops.png", "load.png", "lengths.png"}
    assert {path.name for path in out.glob("*.png")} == figures
    assert len(find_runs([root])) == 9  # statistics are no runs
    with pytest.raises(InputError, match=r"no setting 'population\.sise'"):
        grouped(find_runs([root]), ["population.sise"])


def test_folders_without_runs_and_damaged_tables_are_refused(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        write_run_statistics([tmp_path], tmp_path / "out")
    run = make_run("a", 1)
    (run / "rings.parquet").write_text("not a table")
    with pytest.raises(InputError, match=r"rings\.parquet"):
        describe_runs(find_runs([run]))


def test_a_sweep_is_averaged_over_its_seeds_and_over_nothing_else(tmp_path: Path) -> None:
    def plan(peers: int) -> Sweep:
        return Sweep(RUN, {"a": [1, 13]}, [0, 1, 2], {"b": peers, "log": str(tmp_path / "log")})

    out = tmp_path / "out"
    sweep(plan(10), out)
    sweep(plan(20), out)  # edited: the other one's runs are still in the folder
    table = parquet.read_table(write_sweep_statistics(out, tmp_path / "stats") / "sweep.parquet")
    expected = {(1, metric): 3 for metric in ("product", "seconds")}
    assert {(row["a"], row["metric"]): row["runs"] for row in table.to_pylist()} == expected
    assert cell(table, a=1, metric="product") == pytest.approx(by_scipy([20, 21, 22]))
    assert set(table["b"].to_pylist()) == {20}
    assert "| 1 | product | 3 | 21 |" in (tmp_path / "stats" / "statistics.md").read_text()
    # What another plan left in the table itself, as older versions did, is not averaged in.
    results = parquet.read_table(out / "results.parquet")
    other = sweep(plan(10), tmp_path / "other")
    parquet.write_table(
        pa.concat_tables([results, other], promote_options="permissive"), out / "results.parquet"
    )
    again = parquet.read_table(write_sweep_statistics(out, tmp_path / "stats") / "sweep.parquet")
    assert again == table


def test_a_sweep_that_has_not_ended_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "sweep", "state": "running", "digest": "0"}))
    with pytest.raises(InputError, match="expected a sweep that has ended"):
        write_sweep_statistics(tmp_path, tmp_path / "stats")
