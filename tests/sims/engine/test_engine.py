"""The engine: schedules, bit-identical runs, checkpoints, faults."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from sims.engine import Schedule, Simulation
from sims.engine.checkpoint import load_checkpoint
from sims.engine.faults import Churn, Crash, Loss, Partition, Recover, Resubscribe
from sims.observers import Connectivity, Degrees, RingCompleteness
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack
from sub2sub.peers.settings import OverlaySettings
from tests.sims.engine.joining import joining
from workloads import named


def simulation(controls=(), n=300, spare=0, seed=1, paper=False):
    spec = named("power-law-2")
    lows, highs = spec.subscriptions(n, seed)
    events = spec.events(200, seed, lows, highs, at_least=2)
    overlay = Overlay(
        Population.of(lows, highs, spare=spare, seed=seed),
        OverlaySettings.paper() if paper else None,
        seed=seed,
    )
    overlay.bootstrap()
    return Simulation(overlay, [*controls, (Schedule(), RingCompleteness(events))])


def state(run):
    """Every link with its holder and stamp, in the order they are kept."""
    names = ("holders", "peers", "stamps")
    return {
        f"{layer.name}/{name}": array
        for layer in run.overlay.layers
        for name, array in zip(names, layer.links(), strict=True)
    }


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_rings_of_a_small_population_complete():
    run = simulation(paper=True)
    run.run(40)
    assert run.tables["rings"][-1]["complete"] == 1.0
    assert run.tables["rings"][0]["complete"] < 0.1


def test_a_run_in_steps_is_the_run_at_once_and_measures_before_the_faults_that_are_due() -> None:
    """Whoever measures after `run(k)` sees what the observers of cycle k saw, and no fault of that cycle."""
    faults = [(Schedule(start=12, every=4), Churn(0.2)), (Schedule(at=20), Crash(0.3))]
    whole, parts = (simulation(faults, spare=900) for _ in range(2))
    whole.run(30)
    for cycle in (5, 12, 13, 20, 24, 30):
        parts.run(cycle)
        observer = next(control for _, control in parts.observers)
        measured = {"cycle": cycle, **observer.execute(parts)}
        assert measured == parts.tables["rings"][-1] == whole.tables["rings"][cycle]
    assert parts.tables == whole.tables
    assert same(state(parts), state(whole))


def test_faults_act_at_the_start_of_a_cycle_and_observers_see_its_end() -> None:
    def alive(run: Simulation) -> dict[str, int]:
        return {"peers": int(run.overlay.network.alive.sum())}

    run = simulation([(Schedule(at=0), Loss(0.1)), (Schedule(at=3), Crash(0.5))]).observe(alive)
    run.run(5)
    assert [row["peers"] for row in run.tables["alive"]] == [300, 300, 300, 300, 150, 150]
    assert {row["cycle"]: row["peers"] for row in run.tables["traffic"]} == {
        1: 300,
        2: 300,
        3: 300,
        4: 150,
        5: 150,
    }
    assert [row["cycle"] for row in run.tables["crash"]] == [3]


def test_two_runs_are_bit_identical_and_another_seed_is_not():
    runs = [simulation(seed=seed) for seed in (1, 1, 2)]
    for run in runs:
        run.run(10)
    assert same(state(runs[0]), state(runs[1]))
    assert not same(state(runs[0]), state(runs[2]))


def faults():
    return [
        (Schedule(at=5), Crash(0.2)),
        (Schedule(at=8), Recover(0.5)),
        (Schedule(at=3), Loss(0.1)),
        (Schedule(start=4, until=9), Churn(0.03)),
        (Schedule(at=6), Partition(2)),
        (Schedule(at=9), Partition(1)),
        (Schedule(at=7), Resubscribe(0.1)),
    ]


def test_a_resumed_run_equals_one_never_interrupted(tmp_path: Path):
    whole = simulation(faults(), spare=300)
    whole.run(14)
    for interrupted_at in (4, 7, 11):
        first = simulation(faults(), spare=300)
        first.run(interrupted_at)
        first.save(tmp_path / "state.npz")
        second = simulation(faults(), spare=300)
        second.load(tmp_path / "state.npz")
        second.run(14)
        assert second.tables == whole.tables
        assert same(state(second), state(whole))


class Interrupter:
    """Asks to stop in the middle of everything."""

    name = "interrupter"

    def execute(self, simulation: Simulation) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_cycle_and_leaves_a_checkpoint(tmp_path: Path):
    run = simulation([(Schedule(at=6), Interrupter()), (Schedule(), Degrees("ring"))])
    with pytest.raises(KeyboardInterrupt):
        run.run(20, checkpoint=tmp_path / "state.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]
    never, resumed = (simulation([(Schedule(), Degrees("ring"))]) for _ in range(2))
    resumed.load(tmp_path / "state.npz")
    assert resumed.cycle == 7
    for each in (never, resumed):
        each.run(20)
    assert never.tables == resumed.tables


def test_a_file_that_is_no_checkpoint_is_refused_in_one_line(tmp_path: Path):
    (tmp_path / "state.npz").write_bytes(b"not a checkpoint")
    with pytest.raises(InputError, match="expected a checkpoint"):
        load_checkpoint(tmp_path / "state.npz")
    simulation(n=100).save(tmp_path / "small.npz")
    with pytest.raises(InputError, match="expected a checkpoint of 300 peers, got 100"):
        simulation().load(tmp_path / "small.npz")


def test_a_checkpoint_of_other_layers_is_refused(tmp_path: Path):
    Simulation(Stack(20, [Cyclon(20)])).save(tmp_path / "cyclon.npz")
    other = Simulation(Stack(20, [Cyclon(20), Vicinity(np.zeros((20, 2, 4)), 1, Cyclon(20))]))
    with pytest.raises(InputError, match="expected a checkpoint with the state of the layer 'vicinity'"):
        other.load(tmp_path / "cyclon.npz")


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (
            lambda: Simulation(None),
            "overlay: expected an Overlay, a Stack or a system's overlay, got NoneType",
        ),
        (lambda: simulation().run("3"), "cycles: expected a whole number"),
        (
            lambda: simulation().add(lambda s: None, at="end"),
            "at: expected a whole number of cycles, got 'end'",
        ),
        (lambda: simulation().add(lambda s: None, every=1.5), "every: expected a whole number"),
        (lambda: simulation().add(lambda s: {"a": [1]}, at=0).run(1), "lambda, a: expected a number, a text"),
        (lambda: Crash("a tenth"), "crash.share: expected a share from 0 to 1, got a tenth"),
    ],
)
def test_a_wrong_argument_of_a_simulation_says_what_was_expected(use, words):
    with pytest.raises(InputError, match=words):
        use()


def test_no_control_writes_to_the_table_of_the_layers():
    def traffic(simulation):
        return {"mean": 1.0}

    with pytest.raises(InputError, match="control: expected a name other than 'traffic'"):
        simulation().add(traffic)


def test_crashed_peers_take_no_turn_and_recovered_ones_are_linked_again():
    run = simulation([(Schedule(at=20), Crash(0.3)), (Schedule(at=25), Recover())])
    run.run(22)
    down = np.flatnonzero(run.overlay.network.alive == 0)
    before = run.overlay.cyclon.view[down].copy()
    run.run(24)
    assert down.size == 90
    assert np.array_equal(run.overlay.cyclon.view[down], before)
    run.run(60)
    assert run.tables["rings"][-1]["complete"] == 1.0


def test_links_to_peers_that_died_long_ago_are_dropped():
    run = simulation(
        [(Schedule(at=15), Crash(0.2)), (Schedule(), Degrees("ring")), (Schedule(), Degrees("vicinity"))]
    )
    run.run(70)
    assert run.tables["ring-degrees"][16]["dead"] > 0
    assert run.tables["ring-degrees"][-1]["dead"] == 0
    assert run.tables["vicinity-degrees"][-1]["dead"] == 0


def test_a_partition_keeps_messages_inside_and_a_merge_heals():
    run = simulation([(Schedule(at=15), Partition(2)), (Schedule(at=20), Partition(1))])
    run.run(16)
    assert run.tables["traffic"][-1]["failed"] > 0
    run.run(70)
    assert run.tables["rings"][-1]["complete"] == 1.0


def test_newcomers_join_and_their_rings_close():
    lows, highs = np.full((5, 2), 0.3), np.full((5, 2), 0.7)
    run = simulation([(Schedule(at=15), joining(lows, highs))], spare=10)
    run.run(60)
    assert int(run.overlay.network.alive.sum()) == 305
    assert run.tables["rings"][-1]["complete"] == 1.0


def test_without_spare_peers_a_newcomer_finds_room_all_the_same():
    run = simulation([(Schedule(at=2), joining(np.zeros((1, 2)), np.ones((1, 2))))])
    run.run(30)
    assert int(run.overlay.network.alive.sum()) == 301
    assert run.tables["rings"][-1]["complete"] == 1.0


def test_changed_subscriptions_keep_their_hosts():
    run = simulation([(Schedule(at=10), Resubscribe(0.1))], spare=60)
    hosts = np.sort(run.overlay.population.host[run.overlay.network.alive == 1])
    run.run(12)
    assert np.array_equal(np.sort(run.overlay.population.host[run.overlay.network.alive == 1]), hosts)


def test_the_overlay_starts_connected():
    run = simulation([(Schedule(at=0), Connectivity())])
    run.run(1)
    assert run.tables["connectivity"][0]["components"] == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Crash(1.5), "crash.share: expected a share from 0 to 1, got 1.5"),
        (lambda: Loss(-0.1), "loss.probability"),
        (lambda: Partition(0), "partition.groups"),
        (lambda: Schedule(every=0), "every: expected 1 or more"),
        (lambda: Schedule(start=5, until=5), "until: expected a cycle after"),
    ],
)
def test_impossible_settings_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
