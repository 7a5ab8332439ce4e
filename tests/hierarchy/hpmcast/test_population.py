"""Addresses, distances and subsystems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.hpmcast import AddressSpace, Population, exact_knowledge
from sub2sub.errors import InputError
from tests.hierarchy.hpmcast.reference import view

SPACES = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(lambda sizes: AddressSpace(tuple(sizes)))


@settings(max_examples=60)
@given(space=SPACES, data=st.data())
def test_components_make_up_an_address(space, data):
    x = data.draw(st.integers(0, space.capacity - 1))
    assert sum(space.component(x, i) * space.span(i) for i in range(space.levels)) == x
    assert all(space.component(x, i) < space.size(i) for i in range(space.levels))


@settings(max_examples=60)
@given(space=SPACES, data=st.data())
def test_the_distance_is_an_ultrametric(space, data):
    x, y, z = (data.draw(st.integers(0, space.capacity - 1)) for _ in range(3))
    assert (space.distance(x, y) == 0) == (x == y)
    assert space.distance(x, y) == space.distance(y, x) <= space.levels
    assert space.distance(x, z) <= max(space.distance(x, y), space.distance(y, z))


@settings(max_examples=40, deadline=None)
@given(space=SPACES, seed=st.integers(0, 50), share=st.floats(0.1, 1), redundancy=st.integers(1, 3))
def test_views_hold_who_the_paper_says_a_participant_knows(space, seed, share, redundancy):
    n = max(1, int(share * min(space.capacity, 50)))
    population = Population.scattered(space, n, seed)
    from hierarchy.hpmcast import Condensation

    views = exact_knowledge(population, Condensation(redundancy=redundancy)).views()
    addresses = population.addresses.tolist()
    for x in range(0, n, 7):
        for level in range(1, space.levels + 1):
            row = views.row[level - 1, x]
            entries = views.entry[views.start[row] : views.start[row + 1]].tolist()
            assert entries == [y for line in view(space, addresses, x, level, redundancy) for y in line]
            assert views.position[level - 1, x] == (entries.index(x) if x in entries else -1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AddressSpace(()), "sizes: expected at least one level"),
        (lambda: AddressSpace((4, 0)), r"sizes\[1\]: expected at least 1 value, got 0"),
        (lambda: AddressSpace((1 << 40, 1 << 40)), "expected at most 2\\^62"),
        (lambda: Population.at(AddressSpace((4,)), []), "expected 1 to"),
        (lambda: Population.at(AddressSpace((4,)), [2, 2]), "expected each once, got 2 twice"),
        (lambda: Population.at(AddressSpace((4,)), [1, 4]), "expected 0 to 3 in sorted row 1, got 4"),
        (lambda: Population.scattered(AddressSpace((4,)), 5, 0), "n: expected 1 to 4"),
    ],
)
def test_wrong_addresses_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_million_participants_fit_into_a_few_arrays():
    population = Population.regular(a=100, levels=3)
    views = exact_knowledge(population).views()
    assert len(views.entry) == 100**3 + 3 * 100**2 + 3 * 100
    assert np.bincount(views.top).tolist() == [0, 970_000, 29_700, 300]
