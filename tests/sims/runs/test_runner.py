"""Runs into folders: tables, figures, and a run taken up again that cannot be told from one never stopped."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import rmtree

import pytest
from click.testing import CliRunner

from sims.cli.app import main
from sims.config.experiment import load_experiment
from sims.config.shipped import find_file, shipped
from sims.runs.folder import RunFolder
from sims.runs.sweeping import run as run_of_sweep
from sub2sub.errors import InputError

EXPERIMENT = """\
title = "A little of everything"
cycles = 30
seeds = [3]
checkpoint_every = 4

[population]
size = 200
spare = 200

[workload]
spec = "power-law-2"
events = 50

[[faults]]
kind = "crash"
at = 9
share = 0.2

[[faults]]
kind = "join"
from = 5
every = 7
count = 5

[[faults]]
kind = "churn"
from = 12
until = 15
share = 0.05

[[observers]]
kind = "rings"

[[observers]]
kind = "delivery"
every = 5

[[observers]]
kind = "snapshot"
every = 10

[[observers]]
kind = "connectivity"
at = 30
layers = ["cyclon", "vicinity"]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "everything.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture(scope="module")
def whole(file: Path, tmp_path_factory) -> RunFolder:
    """The run that nobody interrupted."""
    out = tmp_path_factory.mktemp("whole") / "r"
    assert invoke("run", str(file), "--out", str(out), "--quiet").exit_code == 0
    return RunFolder.open(out)


def invoke(*arguments: str):
    return CliRunner().invoke(main, list(arguments))


def assert_same_tables(a: RunFolder, b: RunFolder) -> None:
    assert a.tables() == b.tables()
    for name in a.tables():
        # compared as text, in which NaN equals NaN
        assert repr(a.table(name).to_pydict()) == repr(b.table(name).to_pydict()), name


def test_a_run_writes_tables_figures_settings_and_manifest(whole: RunFolder):
    assert set(whole.tables()) == {
        "rings", "traffic", "delivery", "events", "load", "peers", "links",
        "connectivity", "crash", "join", "churn",
    }  # fmt: skip
    assert [path.stem for path in whole.figures()] == ["delivery", "load", "rings", "traffic"]
    assert whole.manifest["state"] == "done"
    assert whole.manifest["final"]["rings_complete"] == whole.table("rings")["complete"][-1].as_py()
    assert whole.settings["layers"]["cyclon"]["view"] == 20
    assert sorted(path.name for path in whole.path.iterdir() if path.suffix not in (".parquet", ".png")) == [
        "experiment.toml", "log.txt", "manifest.json",
    ]  # fmt: skip
    assert set(whole.table("events")["cycle"].to_pylist()) == set(range(0, 31, 5))
    assert {"cycle", "event", "matches", "reached", "hops", "point_0", "point_1"} <= set(
        whole.table("events").column_names
    )


def begin(file: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "sims.cli.app", "run", str(file), "--out", str(out), "--quiet"],
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize(
    "signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name
)
def test_a_run_stopped_at_any_moment_goes_on_as_if_it_had_not(
    signal_number: signal.Signals, file: Path, whole: RunFolder, tmp_path: Path
):
    out = tmp_path / "r"
    process = begin(file, out)
    while not (out / "manifest.json").exists() and process.poll() is None:
        time.sleep(0.002)
    time.sleep(random.uniform(0, 1))
    process.send_signal(signal_number)
    process.communicate()
    state = RunFolder.open(out).manifest["state"]
    assert (process.returncode, state) in {
        (0, "done"), (130, "interrupted"), (-signal.SIGKILL, "running"), (-signal.SIGKILL, "done"),
        (-signal.SIGTERM, "running"),
    }  # fmt: skip
    for name in RunFolder.open(out).tables():
        RunFolder.open(out).table(name)
    result = invoke("run", str(out), "--resume", "--quiet")
    assert result.exit_code == 0, result.output
    run = RunFolder.open(out)
    assert run.manifest["state"] == "done"
    assert_same_tables(run, whole)
    assert run.manifest["final"] == whole.manifest["final"]
    assert not (out / "checkpoint.npz").exists()
    assert not list(out.glob(".*"))


def test_a_full_disk_fails_the_run_and_leaves_one_that_can_go_on(
    file: Path, whole: RunFolder, tmp_path: Path
):
    out = tmp_path / "r"

    def small_files_only() -> None:  # what does not fit is refused by the system, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    process = subprocess.run(
        [sys.executable, "-m", "sims.cli.app", "run", str(file), "--out", str(out), "--quiet"],
        stderr=subprocess.PIPE, text=True, preexec_fn=small_files_only,
    )  # fmt: skip
    assert process.returncode == 1
    assert "File too large" in process.stderr
    assert RunFolder.open(out).manifest["state"] == "failed"
    assert not list(out.glob(".*"))
    for name in RunFolder.open(out).tables():
        RunFolder.open(out).table(name)
    assert invoke("run", str(out), "--resume", "--quiet").exit_code == 0
    assert_same_tables(RunFolder.open(out), whole)


def test_a_run_is_not_taken_up_with_other_settings(whole: RunFolder, file: Path):
    result = invoke(
        "run", str(file), "--out", str(whole.path), "--resume", "--set", "layers.ring.exchanges=2"
    )
    assert result.exit_code == 2
    assert (
        "expected the settings of the run there, which has 'exchanges = 1', not 'exchanges = 2'"
        in result.output
    )


def test_a_folder_with_a_run_is_not_written_over(whole: RunFolder, file: Path):
    result = invoke("run", str(file), "--out", str(whole.path))
    assert result.exit_code == 2
    assert "expected a new or empty folder, it has a run that is done" in result.output
    assert "expected --resume" in invoke("run", str(whole.path)).output


def test_a_run_that_is_done_is_left_alone(whole: RunFolder):
    before = (whole.path / "manifest.json").stat()
    result = invoke("run", str(whole.path), "--resume", "--json")
    assert json.loads(result.output)[0]["rings_complete"] == whole.manifest["final"]["rings_complete"]
    assert (whole.path / "manifest.json").stat() == before


def small(file: Path, *arguments: str):
    return invoke(
        "run", str(file), "--set", "cycles=3", "--set", "faults=[]", "--set", "observers=[]", *arguments
    )


def test_several_seeds_have_a_folder_each(file: Path, tmp_path: Path):
    result = small(file, "--set", "seeds=[1, 2]", "--out", str(tmp_path / "r"), "--json")
    assert [run["seed"] for run in json.loads(result.output)] == [1, 2]
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["experiment.toml", "seed-1", "seed-2"]
    assert RunFolder.open(tmp_path / "r" / "seed-2").settings["seeds"] == [2]
    rmtree(tmp_path / "r" / "seed-2")  # as if interrupted before it began
    again = invoke("run", str(tmp_path / "r"), "--resume", "--json")
    assert [run["seed"] for run in json.loads(again.output)] == [1, 2]


def test_a_workload_can_be_a_table(file: Path, tmp_path: Path):
    rows = "\n".join(f"{k},{k + 3},0.5,{0.6 + k}" for k in range(40))
    (tmp_path / "boxes.csv").write_text(f"price_low,price_high,size_low,size_high\n{rows}\n")
    (tmp_path / "e.toml").write_text('cycles = 15\n[workload]\ntable = "boxes.csv"\nevents = 30\n')
    result = invoke("run", str(tmp_path / "e.toml"), "--out", str(tmp_path / "r"), "--json")
    assert json.loads(result.output)[0]["hit_ratio"] == 1.0
    run = RunFolder.open(tmp_path / "r")
    assert run.table("peers").num_rows == 40
    assert run.settings["workload"]["table"] == str(tmp_path / "boxes.csv")


def test_a_run_whose_room_is_too_small_makes_more(file: Path, tmp_path: Path):
    result = invoke("run", str(file), "--out", str(tmp_path / "r"), "--set", "population.spare=1", "--quiet")
    assert result.exit_code == 0, result.output
    assert RunFolder.open(tmp_path / "r").manifest["final"]["hit_ratio"] > 0.9


def test_a_run_that_breaks_says_so_in_its_manifest(tmp_path: Path):
    """Memberships of communities cannot grow."""
    settings = ["workload.chain=[3, 10]", "population.spare=1", 'faults=[{kind="join", at=5, count=7}]']
    arguments = [word for setting in settings for word in ("--set", setting)]
    result = invoke("run", "camcast-crash", "--out", str(tmp_path / "r"), *arguments, "--quiet")
    assert result.exit_code == 2
    manifest = RunFolder.open(tmp_path / "r").manifest
    assert manifest["state"] == "failed"
    assert "join, cycle 5: population: expected 7 spare peers, 1 are left" in manifest["error"]


def test_a_sweep_s_run_gives_the_numbers_of_the_same_run_in_a_folder(file: Path, whole: RunFolder):
    assert run_of_sweep({"experiment": str(file), "seed": 3}) == whole.manifest["final"]
    with pytest.raises(InputError, match="unknown key"):
        run_of_sweep({"experiment": str(file), "seed": 3, "layers.ring.exchange": 2})


SMALL = {
    "sub2sub": {"population.size": 100, "workload.events": 10},
    "camcast": {"workload.chain": [3, 10, 40], "workload.events": 5},
    "camcast on rings": {"population.size": 150, "workload.tree": [3, 3], "workload.events": 10},
    "hpmcast": {"layers.sizes": [5, 5, 5], "population.size": 125, "workload.events": 5},
}


@pytest.mark.parametrize("name", shipped())
def test_every_experiment_of_the_package_runs_in_a_small_form(name: str):
    experiment = load_experiment(find_file(name))
    whole = getattr(experiment.workload, "table", None)  # a table's events need all its rows
    small = {} if whole else SMALL[experiment.system]
    numbers = run_of_sweep({"experiment": name, "seed": 1, **small})
    assert numbers.get("hit_ratio", 1.0) > 0.9
    assert numbers["messages_per_peer_and_cycle"] > 0


def test_without_an_argument_the_experiments_are_listed():
    assert "sub2sub-fig5" in invoke("run").output


def test_show_prints_a_file_to_begin_with(file: Path, tmp_path: Path):
    shown = invoke("run", str(file), "--show", "--seed", "8").output
    (tmp_path / "again.toml").write_text(shown)
    assert invoke("run", str(tmp_path / "again.toml"), "--show").output == shown
