"""RingIndex: rings and ring links of all its subscriptions, after any additions and removals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub import InputError, RingIndex, select_ring, true_rings
from sub2sub.rings import ring_index
from tests.sub2sub.geometry.populations import Population, populations


def assert_rings_are_true(index: RingIndex, population: Population, alive: list[int]) -> None:
    """Events are the corners of all boxes."""
    rows = np.array(alive, np.int64)
    lows, highs, ids = population.lows[rows], population.highs[rows], population.ids[rows]
    events = np.vstack([population.lows, population.highs])
    rings, found = true_rings(lows, highs, ids, events), index.match(events)
    assert index.ids.tolist() == sorted(ids.tolist())
    assert [index.ids[found.of(e)].tolist() for e in range(len(events))] == [
        ids[rings.of(e)].tolist() for e in range(len(events))
    ]


def selected(population: Population, row: int, alive: list[int]) -> tuple[list[int], list[int]]:
    others = np.array([other for other in alive if other != row], np.int64)
    ids = population.ids[others]
    ring = select_ring(
        population.lows[row], population.highs[row], population.numbers[row],
        population.lows[others], population.highs[others], ids,
    )  # fmt: skip
    return ids[ring.successors].tolist(), ids[ring.predecessors].tolist()


@settings(max_examples=100)
@given(populations(st.integers(1, 4), 12, least=2), st.data())
def test_rings_and_links_are_true_after_any_additions_and_removals(
    population: Population, data: st.DataObject
) -> None:
    n = len(population.ids)
    alive = set(range(data.draw(st.integers(1, n))))
    first = np.array(sorted(alive))
    index = RingIndex(population.lows[first], population.highs[first], population.ids[first])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_index, "_WAITING", data.draw(st.sampled_from([0, 2, 1024])))
        for _ in range(data.draw(st.integers(0, 5))):
            rows = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=4))
            gone, new = [row for row in rows if row in alive], [row for row in rows if row not in alive]
            index.remove(population.ids[gone])
            index.add(population.lows[new], population.highs[new], population.ids[new])
            alive = alive - set(gone) | set(new)
            assert_rings_are_true(index, population, sorted(alive))
    row_of = {population.numbers[row]: row for row in alive}
    links = index.ring_links()
    for place, number in enumerate(index.ids.tolist()):
        sides = (index.ids[side.of(place)].tolist() for side in links)
        assert tuple(sides) == selected(population, row_of[number], sorted(alive))


def random_population(n: int, d: int, seed: int = 1) -> Population:
    rng = np.random.default_rng(seed)
    lows = rng.random((n, d)) * 0.8
    ids = rng.permutation(n).astype(np.uint64) * np.uint64(2**40) + np.uint64(7)
    return Population(lows, lows + rng.random((n, d)) ** 2 * 0.6, ids)


@pytest.mark.parametrize(("n", "d"), [(700, 1), (700, 3), (200, 5)])
def test_links_of_all_are_those_of_each(n: int, d: int) -> None:
    population = random_population(n, d)
    index = RingIndex(population.lows, population.highs, population.ids)
    links, everybody = index.ring_links(), list(range(n))
    for row in range(0, n, 23):
        place = int(np.searchsorted(index.ids, population.ids[row]))
        sides = tuple(index.ids[side.of(place)].tolist() for side in links)
        assert sides == selected(population, row, everybody)
        assert sides == tuple(side.tolist() for side in index.links(population.numbers[row]))


def test_working_memory_for_members_may_run_out_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    population = random_population(400, 2)
    index = RingIndex(population.lows, population.highs, population.ids)
    before = index.ring_links()
    monkeypatch.setattr(ring_index, "_CHUNK", 1)
    for side, again in zip(before, index.ring_links(), strict=True):
        assert side.offsets.tolist() == again.offsets.tolist()
        assert side.members.tolist() == again.members.tolist()


def test_what_changes_without_one_is_what_changes_when_it_goes() -> None:
    population = random_population(150, 2, seed=4)
    for row in range(0, 150, 10):
        index = RingIndex(population.lows, population.highs, population.ids)
        number = population.numbers[row]
        said = {tuple(pair) for pair in index.what_changes_without(number).tolist()}
        before = all_pairs(index)
        index.remove([number])
        after = all_pairs(index)
        assert said == after - before
        assert {pair for pair in before - after if number not in pair} == set()


def all_pairs(index: RingIndex) -> set[tuple[int, int]]:
    links = index.ring_links().successors
    nodes = np.repeat(index.ids, links.sizes())
    return set(zip(nodes.tolist(), index.ids[links.members].tolist(), strict=True))


def test_a_saved_index_is_mapped_and_can_be_changed(tmp_path: Path) -> None:
    population = random_population(100, 2)
    index = RingIndex(population.lows, population.highs, population.ids)
    index.remove(population.ids[:10])
    index.save(tmp_path / "index")
    loaded = RingIndex.load(tmp_path / "index")
    assert isinstance(loaded._boxes, np.memmap)
    loaded.add(population.lows[:5], population.highs[:5], population.ids[:5])
    assert_rings_are_true(loaded, population, [*range(5), *range(10, 100)])
    assert_rings_are_true(RingIndex.load(tmp_path / "index"), population, list(range(10, 100)))


def index() -> RingIndex:
    return RingIndex([[0.0], [4.0]], [[5.0], [9.0]], [60, 70])


def test_a_refused_addition_or_removal_changes_nothing() -> None:
    mine = index()
    with pytest.raises(InputError):
        mine.add([[0], [1]], [[1], [2]], [80, 70])
    with pytest.raises(InputError):
        mine.remove([60, 80])
    assert mine.ids.tolist() == [60, 70]
    assert mine.ring([4.5]).tolist() == [60, 70]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: index().add([[0], [1]], [[1], [2]], [80, 70]), "ids row 1: expected a new ID, got 70 again"),
        (lambda: index().remove([60, 80]), "ids row 1: expected the ID of a subscription, got 80"),
        (lambda: index().links(61), "ids row 0: expected the ID of a subscription, got 61"),
        (lambda: index().add([[0, 1]], [[1, 2]], [80]), "lows: expected 1 attributes, got 2"),
        (lambda: index().ring([1, 2]), "events: expected 1 attributes, got 2"),
        (lambda: RingIndex.load("nowhere"), "nowhere: expected a saved RingIndex"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
