"""VICINITY: the kernel makes the same decisions as `VicinityPeer`, and views hold the nearest peers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.compiled.vicinity.proximity import overlap, packed_boxes, proximity
from sub2sub.errors import InputError
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE
from sub2sub.peers.settings import Tie, VicinitySettings
from sub2sub.peers.vicinity import squared_distance
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import Population, populations
from tests.sub2sub.overlay.engine import CyclonEngine, VicinityEngine, descriptors, row
from tests.sub2sub.overlay.histories import History, histories, links_of

CYCLES = 16


def run(history: History) -> Iterator[tuple[int, Vicinity, Network, dict[str, int]]]:
    """The layer after each cycle of a history, above a CYCLON with the same history."""
    cyclon, network = Cyclon(history.n, history.cyclon, history.seed), Network.whole(history.n)
    layer = Vicinity(packed_boxes(*history.boxes()), history.d, cyclon, history.vicinity, history.seed)
    cyclon.join(np.arange(history.n), history.contacts(), cycle=0)
    for cycle in range(1, CYCLES):
        fresh = history.apply_faults(cycle, network)
        for each in (cyclon, layer):
            each.join(fresh, history.contacts()[fresh], cycle)
        cyclon.step(cycle, network)
        counts = dict(layer.step(cycle, network))
        layer.meet(*history.meeting(cycle), cycle)
        yield cycle, layer, network, counts


@settings(max_examples=120)
@given(histories())
def test_the_kernel_decides_as_its_peer_does(history: History) -> None:
    population, contacts = descriptors(history.naive_boxes()), history.contacts().tolist()
    below = CyclonEngine(population, history.cyclon, history.seed)
    engine = VicinityEngine(population, below, history.vicinity, history.seed)
    for number, contact in enumerate(contacts):
        below.join(number, contact, cycle=0)
    for cycle, layer, network, counts in run(history):
        if cycle == history.join_at:
            for number in range(1, history.n, 4):
                below.join(number, contacts[number], cycle)
                engine.join(number)
        below.step(cycle, network)
        cost = engine.step(cycle, network)
        newcomer, others = history.meeting(cycle)
        for other in others.tolist():
            engine.peers[newcomer].meet(population[other], cycle)
            engine.peers[other].meet(population[newcomer], cycle)
        assert counts == {
            "messages": cost.messages,
            "failed": cost.failed,
            "bytes": HEADER * cost.messages + (DESCRIPTOR + RANGE * history.d) * cost.links,
        }
        for number, peer in enumerate(engine.peers):
            size = layer.size[number]
            assert links_of(layer.view[number], size) == row(peer.view)
            assert layer.gaps[number, :size].tolist() == peer.gaps()
            assert layer.worst[number] == peer.worst()


@settings(max_examples=60)
@given(histories(most=40))
def test_a_view_never_holds_its_owner_duplicates_or_more_than_its_room(history: History) -> None:
    for cycle, layer, network, _ in run(history):
        places = np.arange(layer.view.shape[1])
        assert (layer.size <= history.vicinity.view).all()
        assert ((layer.view != FREE) == (places < layer.size[:, None])).all()
        holders, others, stamps = layer.links()
        assert (holders != others).all()
        assert len(set(zip(holders.tolist(), others.tolist(), strict=True))) == len(holders)
        assert (stamps <= cycle).all()
        if history.vicinity.max_age:
            live = network.alive[holders] == 1
            assert (stamps[live] >= cycle - history.vicinity.max_age).all()


@settings(max_examples=200)
@given(populations(st.integers(1, 9), most=2, least=2))
def test_a_gap_is_a_distance_and_never_not_a_number(population: Population) -> None:
    with np.errstate(over="ignore"):
        boxes = packed_boxes(population.lows, np.nextafter(population.highs, np.inf))
    a, b = population.boxes
    gap = proximity(boxes, 0, 1, Tie.RANDOM)
    assert gap == proximity(boxes, 1, 0, Tie.RANDOM)
    assert overlap(boxes, 0, 1) == naive.overlap(a, b)
    assert (gap == 0.0) == naive.overlap(a, b)
    assert gap == squared_distance(*descriptors([a, b]))


def settled(
    n: int, tie: Tie, cycles: int = 40, view: int = 8, width: float = 0.3
) -> tuple[Vicinity, Network]:
    """A population of one attribute after some cycles; boxes are independent of sequence IDs."""
    rng = np.random.default_rng(n)
    lows = rng.random((n, 1))
    cyclon, network = Cyclon(n, seed=1), Network.whole(n)
    layer = Vicinity(
        packed_boxes(lows, lows + width), 1, cyclon, VicinitySettings(view=view, tie=tie), seed=2
    )
    cyclon.join(np.arange(n), (np.arange(n) + 1) % n, cycle=0)
    for cycle in range(1, cycles):
        step(layer, cycle, network)
    return layer, network


def step(layer: Vicinity, cycle: int, network: Network) -> None:
    layer.cyclon.step(cycle, network)
    layer.step(cycle, network)


def members(layer: Vicinity) -> list[set[int]]:
    return [{peer for peer, _ in links_of(*row)} for row in zip(layer.view, layer.size, strict=True)]


@pytest.mark.parametrize("tie", Tie)
def test_views_come_to_hold_overlapping_peers_only(tie: Tie) -> None:
    layer, _ = settled(300, tie)
    holders, others, _ = layer.links()
    assert (layer.size == 8).all()
    assert all(overlap(layer.boxes, a, b) for a, b in zip(holders, others, strict=True))


def test_a_peer_without_enough_overlapping_ones_keeps_the_nearest() -> None:
    layer, _ = settled(200, Tie.RANDOM, cycles=80, view=12, width=1e-6)
    exact = 0
    for peer, kept in enumerate(members(layer)):
        gaps = np.array([proximity(layer.boxes, peer, other, Tie.RANDOM) for other in range(200)])
        gaps[peer] = np.inf
        exact += kept == set(np.argsort(gaps)[:12].tolist())
    assert exact > 190


def test_with_random_ties_full_views_keep_changing() -> None:
    layer, network = settled(300, Tie.RANDOM)
    before = members(layer)
    step(layer, 40, network)
    changed = [len(new - old) for old, new in zip(before, members(layer), strict=True)]
    assert np.mean(changed) > 2


def test_with_tie_keep_full_views_do_not_change() -> None:
    layer, network = settled(300, Tie.KEEP)
    before = members(layer)
    stamps = layer.view >> 32
    for cycle in range(40, 45):
        step(layer, cycle, network)
    assert members(layer) == before
    assert (layer.view >> 32 >= stamps).all()
    assert (layer.view >> 32 > stamps).any()


def test_with_ties_by_sequence_views_hold_the_nearest_ids() -> None:
    layer, _ = settled(300, Tie.SEQUENCE, cycles=80, view=8)
    exact = 0
    for peer, kept in enumerate(members(layer)):
        overlapping = [other for other in range(300) if other != peer and overlap(layer.boxes, peer, other)]
        ways = sorted(min(abs(peer - other), 300 - abs(peer - other)) for other in overlapping)[:8]
        exact += sorted(min(abs(peer - other), 300 - abs(peer - other)) for other in kept) == ways
    assert exact > 280


def dead_links(layer: Vicinity, network: Network) -> int:
    holders, others, _ = layer.links()
    return int((network.alive[others[network.alive[holders] == 1]] == 0).sum())


@pytest.mark.parametrize("max_age", [0, 12])
def test_links_to_dead_peers_disappear(max_age: int) -> None:
    layer, network = settled(300, Tie.RANDOM)
    layer.settings = VicinitySettings(view=8, max_age=max_age)
    network.alive[::5] = 0
    assert dead_links(layer, network) > 100
    for cycle in range(40, 90):
        step(layer, cycle, network)
    assert dead_links(layer, network) == 0


def test_a_resumed_run_equals_the_uninterrupted_one() -> None:
    whole, network = settled(100, Tie.RANDOM, cycles=5)
    resumed, _ = settled(100, Tie.RANDOM, cycles=1)
    resumed.load(whole.arrays())
    resumed.cyclon.load(whole.cyclon.arrays())
    for cycle in range(5, 9):
        step(whole, cycle, network)
        step(resumed, cycle, network)
    assert all((whole.arrays()[name] == array).all() for name, array in resumed.arrays().items())


def test_a_peer_that_joins_again_has_an_empty_view() -> None:
    layer, _ = settled(50, Tie.RANDOM)
    layer.join(np.array([3, 7]), np.array([-1, 1]), cycle=40)
    assert layer.size[[3, 7]].tolist() == [0, 0]
    assert (layer.view[[3, 7]] == FREE).all()
    assert np.isinf(layer.worst[[3, 7]]).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"view": 0}, "vicinity.view: expected 1 to 63, got 0"),
        ({"view": 64}, "vicinity.view: expected 1 to 63, got 64"),
        ({"shuffle": 64}, "vicinity.shuffle: expected 1 to 63, got 64"),
        ({"max_age": -1}, "vicinity.max_age: expected 0 or more, got -1"),
    ],
)
def test_settings_outside_their_domain_are_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        VicinitySettings(**wrong)


def test_packed_boxes_overlap_along_the_padding() -> None:
    lows: NDArray[np.float64] = np.array([[0.0], [5.0]])
    boxes = packed_boxes(lows, lows + 1.0)
    assert boxes.shape == (2, 2, 4)
    assert proximity(boxes, 0, 1, Tie.RANDOM) == 16.0
