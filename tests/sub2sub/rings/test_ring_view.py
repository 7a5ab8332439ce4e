"""RingView: at any time the selection of Figure 3 among the candidates told of and alive."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub import InputError, RingView, select_ring, true_rings
from tests.sub2sub.geometry.populations import Population, populations


def expected(population: Population, alive: list[int]) -> tuple[list[int], list[int]]:
    """The IDs that `select_ring` selects for the first peer among those of the others that are alive."""
    rows = np.array(alive, np.int64)
    ids = population.ids[rows]
    ring = select_ring(
        population.lows[0], population.highs[0], population.numbers[0],
        population.lows[rows], population.highs[rows], ids,
    )  # fmt: skip
    return ids[ring.successors].tolist(), ids[ring.predecessors].tolist()


@settings(max_examples=150)
@given(populations(st.integers(1, 4), 12, least=3), st.data())
def test_any_order_of_additions_and_removals_gives_the_selection_among_those_alive(
    population: Population, data: st.DataObject
) -> None:
    view = RingView(population.lows[0], population.highs[0], population.numbers[0])
    others, alive = st.integers(1, len(population.ids) - 1), set[int]()
    for _ in range(data.draw(st.integers(1, 8))):
        rows = data.draw(st.lists(others, unique=True, max_size=6))
        if data.draw(st.booleans()):
            view.add(population.lows[rows], population.highs[rows], population.ids[rows])
            alive |= set(rows)
        else:
            view.remove(population.ids[rows])
            alive -= set(rows)
        neighbours = view.neighbours
        found = neighbours.successors.tolist(), neighbours.predecessors.tolist()
        assert found == expected(population, sorted(alive))


def test_many_random_candidates_one_by_one_and_then_the_neighbours_die() -> None:
    rng = np.random.default_rng(5)
    lows = rng.random((300, 3)) * 0.7
    highs, ids = lows + 0.3 * rng.random((300, 3)), rng.permutation(300).astype(np.uint64) * np.uint64(2**50)
    population, view = Population(lows, highs, ids), RingView(lows[0], highs[0], int(ids[0]))
    for row in range(1, 300):
        view.add(lows[row : row + 1], highs[row : row + 1], ids[row : row + 1])
    alive = set(range(1, 300))
    while len(view.neighbours.ids()):
        neighbours = view.neighbours
        assert (neighbours.successors.tolist(), neighbours.predecessors.tolist()) == expected(
            population, sorted(alive)
        )
        one_sided = np.setdiff1d(neighbours.predecessors, neighbours.successors)
        dies = one_sided[0] if len(one_sided) and len(alive) % 2 else neighbours.successors[0]
        view.remove([dies])
        alive -= {int(np.flatnonzero(ids == dies)[0])}


def test_an_event_goes_to_the_nearest_on_both_sides_of_its_true_ring() -> None:
    rng = np.random.default_rng(3)
    lows = rng.random((60, 2)) * 0.6
    highs, ids, events = lows + 0.4, rng.permutation(60).astype(np.uint64), rng.random((200, 2))
    rings, asked = true_rings(lows, highs, ids, events), 0
    view = RingView(lows[0], highs[0], int(ids[0]))
    view.add(lows[1:], highs[1:], ids[1:])
    for number, event in enumerate(events):
        ring = rings.of(number).tolist()
        if 0 in ring and len(ring) > 1:
            at = ring.index(0)
            sides = ring[(at + 1) % len(ring)], ring[at - 1]
            assert view.links(event) == tuple(int(ids[side]) for side in sides)
            asked += 1
    assert asked > 20


def test_new_ranges_of_a_known_candidate_replace_the_old_ones() -> None:
    view = RingView([0], [10], 50)
    view.add([[0], [0]], [[10], [10]], [60, 70])
    assert view.neighbours.successors.tolist() == [60]
    view.add([[20]], [[30]], [60])
    assert view.neighbours.successors.tolist() == [70]


def test_changes_are_told_between_two_times() -> None:
    view = RingView([0], [10], 50)
    view.add([[0]], [[10]], [60])
    before = view.neighbours
    view.add([[0]], [[10]], [55])
    view.remove([60])
    came, went = view.neighbours.changes_since(before)
    assert (came.tolist(), went.tolist()) == ([55], [60])
    assert before.successors.tolist() == [60]


def test_readers_see_one_state_while_a_writer_changes_the_view() -> None:
    """All candidates cover the node: in each state it has as many successors as predecessors."""
    view, torn, done = RingView([0], [10], 50), [], threading.Event()

    def read() -> None:
        while not done.is_set():
            neighbours = view.neighbours
            if len(neighbours.successors) != len(neighbours.predecessors):
                torn.append(neighbours)

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(1, 200):
        view.add([[0], [0]], [[10], [10]], [50 + k, 2**63 + k])
        view.remove([50 + k, 2**63 + k])
    done.set()
    reader.join()
    assert torn == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RingView([0], [1], -1), "ring_id: expected an integer from 0"),
        (lambda: RingView([[0]], [[1]], 5), "low, high: expected shape"),
        (lambda: RingView([2], [1], 5), "low row 0, attribute 0: expected a low not above its high"),
        (lambda: RingView([0], [1], 5).add([[0, 0]], [[1, 1]], [6]), "lows: expected 1 attributes, got 2"),
        (lambda: RingView([0], [1], 5).add([[0]], [[1]], [5]), "expected others than the node's own ID"),
        (
            lambda: RingView([0], [1], 5).add([[0], [0]], [[1], [1]], [6, 6]),
            "ids row 1: expected distinct IDs",
        ),
    ],
)
def test_wrong_arguments_are_named(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        call()  # type: ignore[operator]
