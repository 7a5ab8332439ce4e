"""Streams: events that are published one after another wait for one another at their hosts' uplinks."""

from __future__ import annotations

import numpy as np
import pytest

from sims.compare.unit import measure
from sims.compare.worlds import Fault, World, build_world
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.entrants import Compared
from sims.rivals.base.system import Publication
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.settings import Timing

EVEN = Timing(latency="constant", ms=40.0, jitter=0.0, bandwidth=8.0, event_bytes=1000)  # a copy takes 1 ms
N = 120


def grown(name: str, timing: Timing = EVEN) -> tuple[World, Compared]:
    world = build_world("ranges power-law-1", N, 12, probes=2, seed=1)
    system = entrant(name).make(world.wanted, 1)
    system.network.timing = timing
    system.overlay.bootstrap()
    for cycle in range(1, 26):
        system.step(cycle)
    return world, system


def published(world: World, system: Compared, at: np.ndarray | None, **knob: int) -> Outcome:
    settings = entrant(system.name).at(knob)
    publishers = system.peer_of[world.publishers(Fault())[world.events]]
    found = system.spread(Publication(world.events, publishers, 3, record=False, at=at), settings)
    assert found.unbalanced() == 0
    return found


NAMES = ("sub2sub", "broker", "plumtree", "gossipsub", "cyclon flooding")


@pytest.mark.parametrize("name", NAMES)
def test_events_that_are_far_apart_do_not_wait_for_one_another_and_those_at_once_do(name: str) -> None:
    world, system = grown(name)
    knob = {"retries": 0} if name == "broker" else {}
    alone = published(world, system, None, **knob)
    apart = published(world, system, 60_000.0 * np.arange(12), **knob)
    at_once = published(world, system, np.zeros(12), **knob)
    for found in (alone, apart, at_once):
        assert np.array_equal(found.deliveries, found.owed)
    last = [float(np.mean(found.times.last)) for found in (alone, apart, at_once)]  # type: ignore[union-attr]
    assert last[1] == pytest.approx(last[0], rel=0.25 if name == "sub2sub" else 0.12)
    assert last[2] > last[1] + 1.0


def test_a_broker_sends_the_copies_of_one_event_after_those_of_another() -> None:
    world, system = grown("broker")
    found = published(world, system, np.zeros(12), retries=0)
    # All events reach the broker a copy's time and a latency after they were published, and wait there.
    first = 1.0 + 40.0
    assert found.times is not None
    assert float(found.times.last.max()) == pytest.approx(first + float(found.owed.sum()) + 40.0, abs=2.0)
    assert float(found.times.last.min()) >= first + float(found.owed.min()) + 40.0 - 1e-3


def test_acknowledgements_and_repeated_messages_occupy_uplinks() -> None:
    world, system = grown("broker")
    system.network.loss = 0.3
    last = [
        float(np.nanmax(published(world, system, np.zeros(12), retries=retries).times.last))  # type: ignore
        for retries in (0, 6)
    ]
    assert last[1] > 1.2 * last[0]


def test_a_stream_is_measured_with_its_goodput_and_the_rate_at_which_an_uplink_is_full() -> None:
    _, rows = measure("ranges power-law-1", "broker", 1, 60, 10, 2, timing=EVEN, rate=2.0)
    found = {row.metric: row.value for row in rows if row.knob == "default"}
    world = build_world("ranges power-law-1", 60, 10, probes=2, seed=1)
    audience = np.mean([len(world.matches.of(event)) - 1 for event in world.events])
    # A copy takes a millisecond of the broker's uplink; with 5 % loss, 1.11 copies for each.
    assert found["full_rate"] == pytest.approx(1000.0 / (1.11 * audience), rel=0.05)
    assert found["goodput"] == pytest.approx(2.0 * audience, rel=0.2)  # kB/s
    assert found["stream_hit_ratio"] > 0.99
    _, rows = measure("ranges power-law-1", "broadcast", 1, 60, 10, 2, timing=EVEN, rate=2.0)
    assert [row.note for row in rows if row.metric == "full_rate"] == ["its events do not share uplinks"]
