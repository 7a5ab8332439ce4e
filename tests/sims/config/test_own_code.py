"""Experiments with code of one's own: checked against its settings, run with consent, extended, swept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sims.config.experiment import load_experiment
from sims.report.report import report
from sims.runs.folder import RunFolder
from sims.runs.runner import run_experiment
from sims.runs.sweeping import run as run_one
from sub2sub.errors import InputError

CODE = """
from sub2sub import PerPeer
from sims.rivals.papers.sub2sub import Sub2Sub
import numpy as np

class Rumour(PerPeer):
    "Tell a random peer."
    name = "rumour"
    def __init__(self, stack, first: int = 0):
        super().__init__(stack)
        self.heard = self.column("heard", False)
        self.heard[first] = True
    def turn(self, peer, random):
        other = random.below(len(self.heard))
        if self.heard[peer] and self.send(peer, other):
            self.heard[other] = True

class Overlapping(PerPeer):
    name = "near"
    def turn(self, peer, random):
        pass
    def neighbours(self, peer):
        return self.stack.neighbours("cyclon", peer)[:3].tolist()

def heard(simulation, scale: float = 1.0):
    "How many have heard it."
    return {"share": scale * float(simulation.overlay["rumour"].heard.mean())}

class Storm:
    "Peers that go down."
    name = "storm"
    def __init__(self, count: int):
        self.count = count
    def execute(self, simulation):
        simulation.overlay.network.alive[: self.count] = 0
        return {"peers": self.count}

def orders(size: int, seed: int, width: float = 0.3):
    low = np.random.default_rng(seed).random((size or 40, 2)) * (1 - width)
    return low, low + width

class Mine(Sub2Sub):
    name = "mine"
"""

FILE = """
system = "protocols"
cycles = 8
[population]
size = 60
[[layers.stack]]
kind = "own_code:Rumour"
first = 3
[[faults]]
kind = "own_code:Storm"
at = 4
count = 2
[[observers]]
kind = "own_code:heard"
every = 2
[[observers]]
kind = "own_code:heard"
at = "end"
scale = 100.0
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_code.py").write_text(CODE)
    (tmp_path / "mine.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("SUB2SUB_ALLOW", "own_code")
    monkeypatch.delitem(sys.modules, "own_code", raising=False)
    return tmp_path / "mine.toml"


def test_protocol_fault_and_observer_of_ones_own_run_into_a_folder(file: Path, tmp_path: Path) -> None:
    run_experiment(load_experiment(file), 1, tmp_path / "r")
    run = RunFolder.open(tmp_path / "r")
    assert run.table("storm")["peers"].to_pylist() == [2]
    assert run.table("heard")["cycle"].to_pylist() == [0, 2, 4, 6, 8, 8]
    assert run.table("heard")["share"].to_pylist()[-1] == 100 * run.table("heard")["share"].to_pylist()[-2]
    assert (
        load_experiment(tmp_path / "r" / "experiment.toml").to_toml()
        == load_experiment(file, ["seeds=[1]"]).to_toml()
    )


def test_an_extended_run_equals_one_that_was_long_from_the_start(file: Path, tmp_path: Path) -> None:
    run_experiment(load_experiment(file), 1, tmp_path / "short")
    longer = load_experiment(file, ["cycles=12"])
    run_experiment(longer, 1, tmp_path / "short", resume=True)
    run_experiment(longer, 1, tmp_path / "long")
    short, long = (RunFolder.open(tmp_path / name) for name in ("short", "long"))
    assert short.manifest["cycles"] == 12
    for name in long.tables():
        assert short.table(name).equals(long.table(name)), name
    with pytest.raises(InputError, match="cycles: expected 12 or more, which are done, got 9"):
        run_experiment(load_experiment(file, ["cycles=9"]), 1, tmp_path / "short", resume=True)


@pytest.mark.parametrize("at", ['"end"', "8"])
def test_a_fault_that_would_act_after_the_end_is_refused(file: Path, at: str) -> None:
    faults = f'faults=[{{kind = "crash", at = {at}, share = 0.5}}]'
    with pytest.raises(InputError, match="expected a cycle before the end of the run, which has 8"):
        load_experiment(file, [faults])


def test_figures_show_runs_of_ones_own_code(file: Path, tmp_path: Path) -> None:
    run_experiment(load_experiment(file), 1, tmp_path / "r")
    assert (tmp_path / "r" / "traffic.png").exists()
    assert "Cost of upkeep" in report([tmp_path / "r"]).html()


def test_a_run_of_a_sweep_may_set_what_ones_own_code_takes(file: Path) -> None:
    found = run_one({"experiment": str(file), "seed": 1, "layers.stack.0.first": 7, "cycles": 6})
    assert found["messages_per_peer_and_cycle"] > 0


def test_systems_layers_and_workloads_of_ones_own(file: Path, tmp_path: Path) -> None:
    (tmp_path / "rings.toml").write_text(
        'system = "own_code:Mine"\ncycles = 12\n[workload]\nsource = "own_code:orders"\nevents = 20\n'
        "settings = { width = 0.4 }\n[layers.near]\nkind = 'own_code:Overlapping'\n"
        "[[layers.above]]\nkind = 'own_code:Rumour'\n[[observers]]\nkind = 'delivery'\nat = 'end'\n".replace(
            "\\\n", "\n"
        )
    )
    ended = run_experiment(load_experiment(tmp_path / "rings.toml"), 1, tmp_path / "rings")
    assert ended.numbers["hit_ratio"] > 0.9
    layers = set(RunFolder.open(tmp_path / "rings").table("traffic")["layer"].to_pylist())
    assert {"near", "rumour"} <= layers


WRONG = [
    ("layers.stack.0.kind='own_code:Nothing'", "own_code has no Nothing"),
    ("layers.stack.0.kind='stranger:Layer'", "runs only with consent: --allow stranger"),
    ("layers.stack.0.frist=3", "did you mean 'first'"),
    ("layers.stack.0.first='zero'", "expected a whole number"),
    ("faults.0.count=1.5", "expected a whole number"),
    ("observers.0.kind='own_code:CODE'", "own_code has no CODE"),
    ("system='own_code:heard'", "expected a subclass of sims.rivals.System"),
    ("observers.0.at='ende'", "end"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[change for change, _ in WRONG])
def test_what_is_wrong_with_it_is_said_before_anything_runs(file: Path, change: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_experiment(file, [change])
