"""Events as traffic: silent neighbours go, and others stay."""

from __future__ import annotations

import numpy as np
import pytest

from sims.engine import Control, Schedule, Simulation
from sims.engine.faults import Crash, Loss
from sims.engine.publish import Publish
from sims.observers import Degrees, RingCompleteness
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.ring.probing import unanswered
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from workloads import named

CYCLE = 25


def simulation(*controls: tuple[int, Control]) -> tuple[Simulation, np.ndarray]:
    spec = named("power-law-2")
    lows, highs = spec.subscriptions(400, 1)
    events = spec.events(400, 1, lows, highs, at_least=2)
    overlay = Overlay(Population.of(lows, highs, seed=1), seed=1)
    overlay.bootstrap()
    run = Simulation(overlay, [(Schedule(at=cycle), control) for cycle, control in controls])
    return run, events


def test_after_a_crash_events_take_dead_neighbours_out_of_the_views_at_once() -> None:
    _, events = simulation()
    dead = []
    for controls in ([], [(CYCLE, Publish(events))]):
        run, _ = simulation((CYCLE, Crash(0.3)), *controls)
        run.run(CYCLE)
        run.act()
        dead.append(float(Degrees("ring").execute(run)["dead"]))
    assert dead[1] < 0.75 * dead[0]
    row = run.tables["publish"][0]
    assert row["events"] == 400
    assert row["dropped"] > 0
    assert row["probes"] == run.overlay.ring.settings.tries * row["dropped"]


def test_messages_that_are_merely_lost_cost_few_links() -> None:
    _, events = simulation()
    run, _ = simulation((CYCLE, Loss(0.2)), (CYCLE, Publish(events)))
    run.run(CYCLE)
    run.act()
    row = run.tables["publish"][0]
    links = run.overlay.ring.links()[0].size
    assert row["failed"] > 200
    assert row["dropped"] < 0.03 * links
    assert float(RingCompleteness(events).execute(run)["links"]) > 0.97


def test_without_failures_events_change_nothing() -> None:
    run, events = simulation()
    run.run(CYCLE)
    before = [array.copy() for array in run.overlay.ring.links()]
    row = Publish(events, count=50).execute(run)
    assert (row["events"], row["hit_ratio"], row["failed"], row["dropped"]) == (50, 1.0, 0, 0)
    assert all(np.array_equal(a, b) for a, b in zip(before, run.overlay.ring.links(), strict=True))


def test_only_silent_neighbours_are_unanswered() -> None:
    net = Network.whole(200)
    net.alive[100:], net.loss = 0, 0.3
    pairs = np.stack([np.zeros(199, np.int64), np.arange(1, 200)], axis=1)
    silent, messages = unanswered(net, pairs, seed=3, cycle=2)
    dead = net.alive[silent[:, 1]] == 0
    assert dead.sum() == 100
    assert (~dead).sum() < 20  # lost three times on one of two ways: about one in twenty
    assert messages >= 100 * 3 + 99 * 2
    assert unanswered(net, np.empty((0, 2), np.int64))[0].shape == (0, 2)


def test_more_events_than_there_are_cannot_be_chosen() -> None:
    with pytest.raises(InputError, match=r"publish\.count: expected 0 \(all\) to 2 events, got 3"):
        Publish([[0.1], [0.2]], count=3)
