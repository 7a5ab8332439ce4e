"""A population that grows: peers get new numbers, and links are as if there had been room at the start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hierarchy.shared import SharedOverlay, SharedSettings
from sims.engine import Simulation
from sims.engine.faults import Churn, Resubscribe
from sub2sub import Overlay, OverlaySettings, Population
from sub2sub.compiled.common.growth import grow, make_room
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.errors import InputError
from sub2sub.overlay.per_peer import PerPeer
from sub2sub.overlay.stack import Stack
from sub2sub.peers.settings import RecoverySettings
from tests.sims.engine.joining import joining

Made = Callable[[Population], Any]


def ranges(n: int, seed: int, d: int = 2) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    low = rng.random((n, d)) * 0.7
    return low, low + rng.random((n, d)) * 0.4


class Age(PerPeer):
    """Counts the turns of each peer, and remembers the last peer that it contacted."""

    name = "age"

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.turns, self.saw = self.column("turns", 7), self.column("saw", -1, dtype=np.int64)

    def turn(self, peer: int, random: Any) -> None:
        self.turns[peer] += 1
        self.saw[peer] = max(self.stack.neighbours("cyclon", peer), default=-1)

    def grow(self, moved: Any) -> None:
        super().grow(moved)
        self.saw[:] = moved.peers(self.saw)


def overlay_of(population: Population) -> Overlay:
    settings = OverlaySettings(recovery=RecoverySettings(), axes=(1.0, 40.0))
    return Overlay(population, settings, seed=3, above=[Age])


def by_distance(population: Population) -> Overlay:
    return Overlay(population, seed=3, proximity=lambda a, b: float(abs(a[0] - b[0]).sum()))


def shared(population: Population) -> SharedOverlay:
    return SharedOverlay(population, SharedSettings(), seed=3)


def state_of(overlay: Any) -> dict[str, NDArray[Any]]:
    """The state in a checkpoint, except positions in the pool and caches of decisions."""
    found = {
        f"population/{name}": getattr(overlay.population, name) for name in ("ids", "boxes", "row", "host")
    }
    found |= {"scaled": overlay.population.scaled, "alive": overlay.network.alive}
    for layer in overlay.layers:
        found |= {f"{layer.name}/{name}": array for name, array in layer.arrays().items()}
        for name, array in zip(("holders", "peers", "stamps"), layer.links(), strict=True):
            found[f"{layer.name}/links/{name}"] = array
    for name in ("words", "start", "top", "end", "shadow", "asked"):
        del found[f"ring/{name}"]
    return found


def assert_same(one: Any, other: Any) -> None:
    left, right = state_of(one), state_of(other)
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def joined(overlay: Any, cycle: int, count: int = 4) -> None:
    """Let newcomers join a running overlay, as a library user does: the first dormant ones."""
    population = overlay.population
    newcomers = np.flatnonzero(population.dormant)[:count]
    contacts = np.flatnonzero(overlay.network.alive)[:count]
    population.activate(newcomers, *ranges(count, 9), population.host.max() + 1 + np.arange(count))
    overlay.admit(newcomers, contacts, cycle)


@pytest.mark.parametrize("made", [overlay_of, by_distance, shared])
def test_grown_before_the_first_cycle_it_is_as_if_room_had_been_there(made: Made) -> None:
    """All arrays of all layers agree at once and ten cycles later, including those of newcomers."""
    low, high = ranges(60, 1)
    in_advance, grown = (made(Population.of(low, high, spare=spare, seed=3)) for spare in (44, 4))
    ids, dormant = grown.population.ids, grown.population.dormant
    for overlay in (in_advance, grown):  # newcomers whose contacts have not been asked yet
        overlay.bootstrap()
        newcomers, old, contacts = (
            np.searchsorted(overlay.population.ids, some)
            for some in (ids[dormant], ids[~dormant][:4], ids[~dormant][4:8])
        )
        overlay.population.activate(newcomers, *ranges(4, 8), 60 + np.arange(4))
        overlay.admit(newcomers, contacts, 1)
        overlay.change(old, newcomers)
    grow(grown, 40)
    assert_same(in_advance, grown)
    for overlay in (in_advance, grown):
        overlay.run(4)
        joined(overlay, cycle=5)
        overlay.run(6)
    assert_same(in_advance, grown)
    assert in_advance.ring.links()[0].size > 200


def by_id(overlay: Any, kind: str) -> set[tuple[int, int, int]]:
    holders, peers, stamps = overlay.kinds[kind].links()
    ids = overlay.population.ids
    return {
        (int(ids[a]), int(ids[b]), int(stamp)) for a, b, stamp in zip(holders, peers, stamps, strict=True)
    }


def whom_lost(overlay: Any, peer: int) -> tuple[int, bool] | None:
    """The ID of the peer that did not answer a shuffle, and whether a second try failed, too."""
    lost = int(overlay.cyclon.lost[peer])
    return None if lost == -1 else (int(overlay.population.ids[max(lost, -2 - lost)]), lost < 0)


@pytest.mark.parametrize("made", [overlay_of, by_distance, shared])
def test_grown_while_it_runs_everybody_keeps_its_links_and_all_that_goes_with_them(made: Made) -> None:
    overlay = made(Population.of(*ranges(60, 2), seed=3))
    overlay.bootstrap()
    overlay.network.loss = 0.6  # so that there are tombstones, and messages to repeat
    overlay.run(12)
    links = {kind: by_id(overlay, kind) for kind in overlay.kinds}
    old, ring = overlay.population.ids.copy(), overlay.ring
    tried = dict(zip(old.tolist(), ring.tries.tolist(), strict=True))
    lost = {int(old[k]): whom_lost(overlay, k) for k in range(60)}
    silent = [(old[holder], old[ring.pool.silent[holder, slot]], ring.pool.silent_at[holder, slot])
              for holder, slot in np.argwhere(ring.pool.silent >= 0)]  # fmt: skip
    moved = make_room(overlay, 5)
    assert moved is not None
    ids = overlay.population.ids
    assert (ids[moved.number] == old).all()
    assert ids.size == 120
    assert {kind: by_id(overlay, kind) for kind in overlay.kinds} == links
    assert {int(ids[k]): whom_lost(overlay, k) for k in moved.number} == lost
    assert set(lost.values()) != {None}
    for layer in overlay.layers:
        short = [name for name, value in vars(layer).items() if getattr(value, "shape", ())[:1] == (60,)]
        assert not short, f"{layer.name}: kernels would write beyond these"
    pool, alive = overlay.ring.pool, overlay.network.alive == 1
    assert dict(zip(ids[alive].tolist(), overlay.ring.tries[alive].tolist(), strict=True)) == tried
    still = {(ids[holder], ids[pool.silent[holder, slot]], pool.silent_at[holder, slot])
             for holder, slot in np.argwhere(pool.silent >= 0)}  # fmt: skip
    assert silent
    assert still <= set(silent)
    assert len(still) > 0.8 * len(silent)
    overlay.network.loss = 0.0
    joined(overlay, cycle=13, count=30)
    assert overlay.run(20).publish(np.random.default_rng(5).random((60, 2))).hit_ratio == 1.0


def test_columns_of_a_protocol_of_ones_own_move_with_their_peers() -> None:
    overlay = overlay_of(Population.of(*ranges(30, 1), seed=3))
    overlay.run(3)
    age, ids = overlay["age"], overlay.population.ids.copy()
    assert isinstance(age, Age)
    seen = {int(ids[k]): int(ids[age.saw[k]]) for k in range(30)}
    make_room(overlay, 1)
    now = overlay.population.ids
    assert {int(now[k]): int(now[age.saw[k]]) for k in np.flatnonzero(age.saw >= 0)} == seen
    assert sorted(set(age.turns.tolist())) == [7, 10]
    assert age.turns is age.arrays()["turns"]


def test_events_that_are_recovered_keep_their_peers() -> None:
    overlay = overlay_of(Population.of(*ranges(50, 4), seed=3)).run(15)
    events = np.random.default_rng(1).random((20, 2))
    overlay.network.loss = 0.6
    outcome = disseminate(Links.of(overlay), overlay.network, events, cycle=15, record=True)
    overlay.recent_events.publish(events, outcome, cycle=15)
    overlay.network.loss = 0.0
    before = overlay.recent_events.shares(15)
    make_room(overlay, 1)
    assert overlay.recent_events.shares(15) == before
    assert before[0].has < before[0].wanted
    had = overlay.run(4).recent_events.shares(19)[4]
    assert had.has == had.wanted


def test_one_more_than_there_is_room_for_can_join_and_changes_go_on(tmp_path: Path) -> None:
    """With more joins, churn and changes than there is room for, a resumed run equals one without a stop."""

    def start() -> Simulation[Overlay]:
        overlay = overlay_of(Population.of(*ranges(60, 6), spare=2, seed=3))
        overlay.bootstrap()
        simulation = Simulation(overlay)
        simulation.add(joining(*ranges(3, 7)), at=6).add(Churn(0.2), start=8, until=20)
        return simulation.add(Resubscribe(0.5), at=12)

    simulation, resumed = start(), start()
    simulation.run(14)
    assert simulation.overlay.network.alive.sum() == 63
    hosts = simulation.overlay.population.host[simulation.overlay.network.alive == 1]
    assert np.unique(hosts).size == 63
    assert len(simulation.overlay.population) > 62
    simulation.save(tmp_path / "checkpoint")
    resumed.load(tmp_path / "checkpoint")
    for each in (simulation, resumed):
        each.run(30)
    assert_same(simulation.overlay, resumed.overlay)
    assert simulation.tables == resumed.tables
    assert simulation.overlay.publish(np.random.default_rng(5).random((60, 2))).hit_ratio > 0.99


class Stiff:
    """A layer that cannot grow."""

    name = "stiff"

    def step(self, cycle: int, network: Any) -> dict[str, int]:
        return {}

    def join(self, peers: Any, contacts: Any, cycle: int) -> None: ...

    def links(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(np.empty(0, np.int64) for _ in range(3))

    def arrays(self) -> dict[str, Any]:
        return {}

    def load(self, arrays: Any) -> None: ...


def test_a_layer_that_cannot_grow_is_named_and_nothing_has_changed() -> None:
    overlay = Overlay(Population.of(*ranges(20, 1), seed=3), seed=3, above=[Stiff()])  # type: ignore[list-item]
    simulation = Simulation(overlay.run(2)).add(joining(*ranges(1, 2)), at=3)
    with pytest.raises(
        InputError, match=r"^join, cycle 3: .*expected 1 spare peers, 0 are left.*'stiff' cannot"
    ):
        simulation.run(4)
    assert len(overlay.population) == 20
    assert overlay.cyclon.size.size == 20
