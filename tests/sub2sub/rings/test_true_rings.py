"""True rings: the subscribers on the ring of an event, and the neighbours of one subscriber."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sub2sub import InputError, ring_neighbours, true_rings
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import GRID, NASTY, Population, populations

events_of = st.lists(st.lists(st.sampled_from(GRID + NASTY), min_size=6, max_size=6), min_size=1, max_size=80)


@given(populations(st.integers(1, 6), 8), events_of)
def test_a_ring_is_everybody_around_the_event_in_the_order_of_ids(
    population: Population, drawn: list[list[float]]
) -> None:
    events = [event[: population.lows.shape[1]] for event in drawn]
    rings = true_rings(population.lows, population.highs, population.ids, events)
    for e, event in enumerate(events):
        assert rings.of(e).tolist() == naive.ring(event, population.boxes, population.numbers)


@given(populations(st.integers(1, 4), 8, least=1), events_of)
def test_ring_neighbours_are_next_to_the_node_on_the_ring_of_node_and_links(
    population: Population, drawn: list[list[float]]
) -> None:
    events = [event[: population.lows.shape[1]] for event in drawn]
    own, links = population.numbers[0], slice(1, None)
    found = ring_neighbours(
        own, population.lows[links], population.highs[links], population.ids[links], events
    )
    everywhere = [(-math.inf, math.inf)] * population.lows.shape[1]
    boxes = [everywhere, *population.boxes[links]]
    for e, event in enumerate(events):
        ring = naive.ring(event, boxes, population.numbers)
        at = ring.index(0)
        successor, predecessor = ring[(at + 1) % len(ring)], ring[at - 1]
        assert (found.successors[e], found.predecessors[e]) == (successor - 1, predecessor - 1)


def test_the_ring_closes_over_the_largest_id() -> None:
    lows, highs = np.zeros((3, 1)), np.ones((3, 1))
    ids = np.array([2**64 - 1, 0, 2**63], np.uint64)
    found = ring_neighbours(2**64 - 2, lows, highs, ids, [[0.5]])
    assert (found.successors.tolist(), found.predecessors.tolist()) == ([0], [2])
    found = ring_neighbours(1, lows, highs, ids, [[0.5]])
    assert (found.successors.tolist(), found.predecessors.tolist()) == ([2], [1])


def test_in_a_ring_of_two_the_other_is_both_neighbours_and_alone_there_is_none() -> None:
    found = ring_neighbours(5, [[0.0]], [[1.0]], [9], [[0.5], [2.0]])
    assert (found.successors.tolist(), found.predecessors.tolist()) == ([0, -1], [0, -1])


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([7, 8, 7], r"^ids row 2: expected distinct IDs, got 7 as in row 0$"),
        ([9, 8, 7, 8, 9], r"^ids row 3: expected distinct IDs, got 8 as in row 1$"),
        ([1, 2, -3], r"^ids row 2: expected an integer from 0 to 2\^64 - 1, got -3$"),
        ([1, 2**64], r"^ids row 1: expected an integer from 0 to 2\^64 - 1, got 18446744073709551616$"),
        ([1.0, 2.0], r"^ids row 0: expected an integer from 0 to 2\^64 - 1, got 1\.0$"),
        (["a", "b"], r"^ids: expected unsigned 64-bit integers, got <U1$"),
        ([True, False], r"^ids: expected unsigned 64-bit integers, got bool$"),
        ([[1, 2]], r"^ids: expected shape \(1,\), got \(1, 2\)$"),
    ],
)
def test_ids_that_are_none_are_refused_with_their_row(ids: list[object], message: str) -> None:
    n = len(ids)
    with pytest.raises(InputError, match=message):
        true_rings(np.zeros((n, 1)), np.ones((n, 1)), ids, [[0.5]])  # type: ignore[arg-type]


def test_a_node_is_not_among_its_own_links() -> None:
    with pytest.raises(InputError, match=r"^ids row 1: expected others than the node's own ID, got 4$"):
        ring_neighbours(4, [[0.0], [0.0]], [[1.0], [1.0]], [3, 4], [[0.5]])
    with pytest.raises(InputError, match=r"^ring_id: expected an integer from 0 to 2\^64 - 1, got -1$"):
        ring_neighbours(-1, [[0.0]], [[1.0]], [3], [[0.5]])


def test_lists_of_python_integers_keep_all_64_bits() -> None:
    ids = [2**64 - 1, 2**64 - 2, 0, 2**63]
    assert true_rings([[0]] * 4, [[1]] * 4, ids, [[0]]).of(0).tolist() == [2, 3, 1, 0]
