"""Sweeps: every combination runs once, finished runs are skipped, failed runs are rows and are repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from sims.cli.app import main
from sub2sub.errors import InputError
from workloads.sweeps.sweep import Sweep, sweep
from workloads.sweeps.sweep_file import load_sweep

RUN = "tests.workloads.sweeps.sweep_runs:product"


@pytest.fixture(autouse=True)
def _consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUB2SUB_ALLOW", "tests")


def plan(tmp_path: Path, a: list[int]) -> Sweep:
    return Sweep(RUN, {"a": a, "b": [10, 20]}, seeds=[0, 1], settings={"log": str(tmp_path / "log")})


def calls(tmp_path: Path) -> list[str]:
    return sorted((tmp_path / "log").read_text().splitlines())


def test_every_combination_is_run_once_and_only_new_ones_later(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = sweep(plan(tmp_path, [2, 3]), out).to_pylist()
    expected = {(a, b, s): a * b + s for a in (2, 3) for b in (10, 20) for s in (0, 1)}
    assert {(row["a"], row["b"], row["seed"]): row["product"] for row in rows} == expected
    assert len(calls(tmp_path)) == len(rows) == 8
    sweep(plan(tmp_path, [2, 3]), out)
    assert len(calls(tmp_path)) == 8
    assert {row["a"] for row in sweep(plan(tmp_path, [3, 4]), out).to_pylist()} == {3, 4}
    assert len(calls(tmp_path)) == 12
    assert parquet.read_table(out / "results.parquet").num_rows == 8
    assert sweep(plan(tmp_path, [2, 3, 4]), out).num_rows == 12
    assert len(calls(tmp_path)) == 12


def test_the_failures_of_another_experiment_do_not_count(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert sweep(plan(tmp_path, [13]), out)["error"].null_count == 0
    edited = Sweep(RUN, {"a": [1]}, [0], {"b": 10, "log": str(tmp_path / "log")})
    assert sweep(edited, out)["error"].to_pylist() == [None]


def test_runs_of_other_code_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(plan(tmp_path, [2]), tmp_path / "out")
    monkeypatch.setattr("workloads.spark.packages.digest", lambda: "edited")
    rows = sweep(plan(tmp_path, [2]), tmp_path / "out")
    assert rows.num_rows == 4
    assert len(calls(tmp_path)) == 8
    assert len(set(rows["digest"].to_pylist())) == 1


def test_runs_without_a_file_are_told_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker whose disk is not this machine's writes its file where nobody here sees it.
    monkeypatch.setattr("workloads.sweeps.scheduler._attempt", lambda *_: "")
    with pytest.raises(InputError, match=r"4 of 4 runs left no result: expected a folder that all workers"):
        sweep(plan(tmp_path, [2]), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["state"] == "running"


def test_what_the_files_that_an_experiment_names_hold_counts(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[workload]\nspec = 'stocks.toml'\n")
    (tmp_path / "stocks.toml").write_text("name = 'one'\n[[attributes]]\nname = 'a'\n")
    (tmp_path / "sweep.toml").write_text("experiment = 'mine.toml'\n")
    before = load_sweep(tmp_path / "sweep.toml").digest
    assert load_sweep(tmp_path / "sweep.toml").digest == before
    (tmp_path / "stocks.toml").write_text("name = 'two'\n[[attributes]]\nname = 'a'\n")
    assert load_sweep(tmp_path / "sweep.toml").digest != before


def test_a_failed_run_is_a_row_and_is_tried_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = sweep(plan(tmp_path, [1, 13]), out).to_pylist()
    failed = [row for row in rows if row["error"]]
    assert {row["a"] for row in failed} == {13}
    assert {row["error"] for row in failed} == {"ValueError: thirteen"}
    assert all(row["product"] is None for row in failed)
    assert sum(row["error"] is None for row in rows) == 4
    (tmp_path / "mended").touch()
    rows = sweep(plan(tmp_path, [1, 13]), out).to_pylist()
    assert [row["error"] for row in rows] == [None] * 8
    assert len(calls(tmp_path)) == 12


def test_spark_gives_the_same_table(tmp_path: Path, spark: Any) -> None:
    here = sweep(plan(tmp_path, [1, 13]), tmp_path / "here").drop_columns("seconds")
    there = sweep(plan(tmp_path, [1, 13]), tmp_path / "there", spark).drop_columns("seconds")
    assert there.sort_by("run") == here.sort_by("run")


def test_a_reproduction_on_spark_has_the_tables_and_claims_of_one_here(tmp_path: Path, spark: Any) -> None:
    """The command `reproduce --master local[2]`, and tasks that Spark has run."""
    jobs = [len(spark.sparkContext.statusTracker().getJobIdsForGroup())]
    found = []
    for folder, where in (("here", ()), ("there", ("--master", "local[2]"))):
        out = tmp_path / folder
        words = [
            "reproduce",
            "camcast-memory",
            "--quick",
            "--seed",
            "3",
            "--out",
            str(out),
            "--quiet",
            *where,
        ]
        assert CliRunner().invoke(main, words).exit_code == 0
        jobs.append(len(spark.sparkContext.statusTracker().getJobIdsForGroup()))
        run = out / "camcast-memory"
        found.append((parquet.read_table(run / "memory.parquet"), (run / "claims.json").read_text()))
    assert found[0] == found[1]
    assert jobs[0] == jobs[1] < jobs[2]


def test_a_result_must_not_hide_a_setting(tmp_path: Path) -> None:
    clash = Sweep("tests.workloads.sweeps.sweep_runs:clashing", {"a": [1]}, seeds=[0])
    (row,) = sweep(clash, tmp_path).to_pylist()
    assert "expected a name that no setting has" in row["error"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run = 'nowhere:run'", "runs only with consent: --allow nowhere"),
        ("run = 'sims.cli.app:main'\n[settings]\n'--allow' = 1", "runs only with consent: --allow sims"),
        (f"run = '{RUN}'\nsede = 3", "sede: unknown key, did you mean 'seeds'"),
        (f"run = '{RUN}'\nseeds = 0", "seeds: expected at least one"),
        (f"run = '{RUN}'\n[grid]\na = 3", "grid.a: expected a list of values, got 3"),
        (f"run = '{RUN}'\n[grid]\na = [3]\n[settings]\na = 4", "not in both"),
        (f"run = '{RUN}'\n[grid]\nseed = [3]", "another name"),
        ("run = ", "Invalid value"),
        ("experiment = 'absent.toml'", "No such file"),
        (f"run = '{RUN}'\nexperiment = 'x'", "either experiment"),
        ("seeds = 2", "either experiment"),
        (f"run = '{RUN}'\nseeds = 'many'", "expected a number of seeds"),
        (f"run = '{RUN}'\ngrid = 3", "grid: expected a table, got 3"),
    ],
)
def test_unusable_sweep_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"sweep\.toml(:\d+)?: .*{message}"):
        load_sweep(path)


def test_a_sweep_file_gives_the_plan_it_describes(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(f"run = '{RUN}'\nseeds = 2\n[settings]\nlog = 'x'\n[grid]\na = [1]\nb = [5, 6]\n")
    assert load_sweep(path).runs() == [
        {"log": "x", "a": 1, "b": b, "seed": seed} for b in (5, 6) for seed in (0, 1)
    ]


def test_an_experiment_is_swept_by_its_keys_and_anew_when_its_text_changes(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("cycles = 3\n")
    path = tmp_path / "sweep.toml"
    settings = "[settings]\npopulation.size = 9\n[grid]\nlayers.ring.cap = [0, 5]\n'seeds' = [[1]]\n"
    path.write_text(f"experiment = 'mine.toml'\nseeds = [4]\n{settings}")
    plan = load_sweep(path)
    assert plan.run == "sims.runs.sweeping:run"
    common = {"experiment": str((tmp_path / "mine.toml").resolve()), "population.size": 9}
    assert plan.runs() == [common | {"layers.ring.cap": cap, "seeds": [1], "seed": 4} for cap in (0, 5)]
    keys = [plan.key(run) for run in plan.runs()]
    (tmp_path / "elsewhere").mkdir()
    for name in ("mine.toml", "sweep.toml"):
        (tmp_path / "elsewhere" / name).write_text((tmp_path / name).read_text())
    moved = load_sweep(tmp_path / "elsewhere" / "sweep.toml")
    assert [moved.key(run) for run in moved.runs()] == keys
    (tmp_path / "mine.toml").write_text("cycles = 4\n")
    edited = load_sweep(path)
    assert not {edited.key(run) for run in edited.runs()} & set(keys)


def test_a_sweep_says_in_its_manifest_what_was_varied(tmp_path: Path) -> None:
    sweep(plan(tmp_path, [2]), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["kind"], manifest["state"], manifest["grid"]) == (
        "sweep",
        "done",
        {"a": [2], "b": [10, 20]},
    )


def test_a_setting_that_the_experiment_refuses_is_refused_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(
        "experiment = 'sub2sub-fig5'\n[settings]\npopulation.sise = 9\n[grid]\n"
        "layers.ring.exchanges = [1, 2.5]\n'dissemination.shortcut' = [0]\nlayers.cyclon.view = [20, 99]\n"
    )
    with pytest.raises(InputError) as found:
        load_sweep(path)
    assert str(found.value).replace(str(path), "sweep.toml").splitlines() == [
        "sweep.toml:3: population.sise: unknown key, did you mean 'size'?",
        "sweep.toml:6: dissemination.shortcut: unknown key, did you mean 'shortcuts'?",
        "sweep.toml:5: layers.ring.exchanges: expected a whole number, got 2.5",
        "sweep.toml:7: cyclon.view: expected 1 to 63, got 99",
    ]
    path.write_text("experiment = 'sub2sub-fig55'\n")
    with pytest.raises(InputError, match=r"sweep\.toml:1: experiment: .*did you mean 'sub2sub-fig5'"):
        load_sweep(path)
