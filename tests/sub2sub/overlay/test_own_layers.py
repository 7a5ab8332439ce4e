"""Custom layers: in VICINITY's place, above the rings, one peer at a time, without subscriptions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn, Crash
from sims.observers import Degrees
from sims.observers.snapshots import Snapshots, links_of
from sub2sub import (
    DisseminationSettings,
    InputError,
    Links,
    Overlay,
    PerPeer,
    Population,
    Random,
    Stack,
    disseminate,
)
from sub2sub.compiled.common.feed import Fed
from sub2sub.compiled.cyclon.layer import Cyclon


class Overlapping(PerPeer):
    """Of the random links that pass by, keep those that overlap: a crude VICINITY, without stamps."""

    name = "overlapping"
    ROOM = 12

    def __init__(self, overlay: Overlay) -> None:
        super().__init__(overlay)
        self.kept = self.column("kept", -1, (self.ROOM,), np.int64)

    def turn(self, peer: int, random: Random) -> None:
        assert isinstance(self.stack, Overlay)
        view, size = self.stack.cyclon.view, self.stack.cyclon.size
        (low, high), boxes = self.stack.population.boxes[peer], self.stack.population.boxes
        for other in (view[peer, : size[peer]] & 0xFFFFFFFF).tolist():
            overlaps = ((boxes[other, 0] < high) & (low < boxes[other, 1])).all()
            if overlaps and other not in self.kept[peer] and self.send(peer, other):
                free = np.flatnonzero(self.kept[peer] < 0)
                self.kept[peer, free[0] if free.size else random.below(self.ROOM)] = other

    def start(self, peer: int, contact: int, cycle: int) -> None:
        self.kept[peer] = -1

    def neighbours(self, peer: int) -> list[int]:
        return self.kept[peer][self.kept[peer] >= 0].tolist()


class Greeted(PerPeer):
    """Above the rings: count how often each peer is greeted by a ring neighbour."""

    name = "greeted"

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.times = self.column("times", 0)

    def turn(self, peer: int, random: Random) -> None:
        known = self.stack.neighbours("ring", peer)
        if known.size and self.send(peer, other := int(random.choice(known))):
            self.times[other] += 1


def _overlay(**layers: object) -> Overlay:
    low = np.random.default_rng(1).random((120, 2)) * 0.7
    return Overlay.of(low, low + 0.3, seed=1, **layers)  # type: ignore[arg-type]


EVENTS = np.random.default_rng(5).random((40, 2))


def test_another_layer_in_the_place_of_vicinity_feeds_the_rings() -> None:
    overlay = _overlay(vicinity=Overlapping).run(25)
    assert isinstance(overlay.vicinity, Fed)
    assert overlay.publish(EVENTS).hit_ratio == 1.0
    assert overlay.ring.vicinity is overlay.vicinity
    fed, starved = (_overlay(vicinity=each).run(4) for each in (Overlapping, _Nobody))
    assert fed.ring.pool.size.mean() > starved.ring.pool.size.mean()


class _Nobody(PerPeer):
    name = "nobody"

    def turn(self, peer: int, random: Random) -> None:
        pass


def test_observers_and_snapshots_see_it_as_vicinity_and_by_its_name(tmp_path: Path) -> None:
    simulation = Simulation(_overlay(vicinity=Overlapping, above=[Greeted]))
    simulation.add(Degrees("vicinity"), at=8).add(Degrees("overlapping"), at=8)
    simulation.add(Snapshots(tmp_path), every=4)
    simulation.run(8)
    assert (
        simulation.tables["vicinity-degrees"][0]["mean"]
        == simulation.tables["overlapping-degrees"][0]["mean"]
    )
    kinds = set(links_of(simulation)["kind"].to_pylist())
    assert kinds == {"cyclon", "vicinity", "ring"}
    with pytest.raises(InputError, match="layer = 'tman': expected one of rendezvous, cyclon"):
        Degrees("tman").execute(simulation)


def test_a_resumed_run_of_own_layers_equals_one_never_interrupted(tmp_path: Path) -> None:
    controls = [(Schedule(at=5), Crash(0.2))]
    whole, first, second = (
        Simulation(_overlay(vicinity=Overlapping, above=[Greeted]), controls) for _ in range(3)
    )
    whole.run(12)
    first.run(7)
    first.save(tmp_path / "state.npz")
    second.load(tmp_path / "state.npz")
    second.run(12)
    assert second.tables == whole.tables
    for one, two in zip(whole.overlay.layers, second.overlay.layers, strict=True):
        assert all(np.array_equal(*links) for links in zip(one.links(), two.links(), strict=True))
    for name in ("overlapping", "greeted"):
        kept, again = whole.overlay[name].arrays(), second.overlay[name].arrays()
        assert all(np.array_equal(array, again[key]) for key, array in kept.items())


def test_links_of_any_stack_are_those_it_has() -> None:
    people = Population.of(np.zeros((30, 1)), np.ones((30, 1)))
    stack = Stack(people, [lambda s: Cyclon(len(s.population), seed=s.seed)], seed=1).run(10)
    links = Links.of(stack)
    assert links.random_size.min() > 0
    assert links.near_size.sum() == links.ring_size.sum() == 0
    by_random_links = DisseminationSettings(shortcuts=6, max_age=0)
    assert disseminate(links, stack.network, [[0.5]], settings=by_random_links).hit_ratio > 0.9


def test_peers_that_subscribe_to_nothing_come_and_go() -> None:
    stack = Stack(Population.of_size(200, spare=60, seed=2), [lambda s: Cyclon(260, seed=2)], seed=2)
    stack.bootstrap()
    simulation = Simulation(stack, [(Schedule(start=3, until=9, every=2), Churn(0.05))])
    simulation.run(15)
    assert stack.network.alive.sum() == 200
    assert (stack["cyclon"].size[stack.network.alive == 1] > 0).all()


def test_messages_of_one_peer_at_a_time_are_billed_and_lost() -> None:
    class Chatty(PerPeer):
        name = "chatty"

        def turn(self, peer: int, random: Random) -> None:
            self.send(peer, (peer + 1) % 500, size=12)

    stack = Stack(500, [Chatty], seed=1)
    stack.bootstrap()
    assert stack.step(1)["chatty"] == {"messages": 500, "failed": 0, "bytes": 500 * (12 + 12)}
    stack.network.loss = 0.3
    assert 100 < stack.step(2)["chatty"]["failed"] < 200
    stack.network.loss, stack.network.alive[10] = 0.0, 0
    assert stack.step(3)["chatty"]["failed"] == 1


class _Astray(PerPeer):
    """Has links, and sends messages, to a peer that does not exist."""

    name = "astray"

    def turn(self, peer: int, random: Random) -> None:
        self.send(peer, -1)

    def neighbours(self, peer: int) -> list[int]:
        return [peer + 1000]


class _Nameless(_Nobody):
    name = ""


def test_a_protocol_that_forgets_its_base_class_is_told_so() -> None:
    class Forgetful(_Nobody):
        def __init__(self, stack: Stack) -> None:
            self.heard = {}

    class Eager(_Nobody):
        def __init__(self, stack: Stack) -> None:
            self.heard = self.column("heard")

    for kind in (Forgetful, Eager):
        with pytest.raises(
            InputError, match=rf"{kind.__name__}: expected .* super\(\).__init__\(stack\) first"
        ):
            Stack(3, [kind]).run(1)


def test_links_to_nobody_never_reach_a_kernel() -> None:
    low = np.zeros((9, 1))
    with pytest.raises(InputError, match="astray: expected links between peers 0 to 8"):
        Overlay.of(low, low + 1, vicinity=_Astray)


def test_random_numbers_of_nothing_are_refused() -> None:
    random = Random(1, "test")
    with pytest.raises(InputError, match="below: expected 1 or more, got 0"):
        random.below(0)
    with pytest.raises(InputError, match="choice: expected one or more items"):
        random.choice([])
    with pytest.raises(InputError, match="sample: expected a count from 0 on, got -1"):
        random.sample([1, 2], -1)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([object], "takes no arguments"),
        ([_Nameless], "expected a layer with a name, _Nameless has ''"),
        ([_Astray], "astray: expected a receiver from 0 to 8, got -1"),
        ([lambda s: "a layer"], "lacks name, step"),
        ([lambda s: Cyclon(9), lambda s: Cyclon(9)], "expected different names, got cyclon, cyclon"),
    ],
)
def test_what_is_no_layer_is_refused(layers: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Stack(9, layers).run(1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected subscriptions with 1 or more attributes"):
        Overlay(9)  # type: ignore[arg-type]
