"""The index agrees with the definition and with the library's lists of matches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import workloads
from sub2sub.geometry.matching import match
from workloads import Attribute, Spec
from workloads.match.bitmap_chunks import CHUNK
from workloads.match.bitmaps import Bitmaps, count_matches
from workloads.spec.distributions import Constant, Distribution, PowerLaw, Zipf

Floats = NDArray[np.float64]

# A small grid makes ranges touch, coincide and have no width; infinite ends are wildcards.
VALUE = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([-np.inf, np.inf]))
POINT = st.integers(-3, 3).map(lambda x: x / 2)


@st.composite
def populations(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    d = draw(st.integers(1, 6))
    pairs = draw(st.lists(st.lists(st.tuples(VALUE, VALUE), min_size=d, max_size=d), max_size=40))
    ends = np.sort(np.array(pairs, np.float64).reshape(-1, d, 2), axis=2)
    points = draw(st.lists(st.lists(POINT, min_size=d, max_size=d), max_size=20))
    return ends[:, :, 0], ends[:, :, 1], np.array(points, np.float64).reshape(-1, d)


def by_definition(lows: Floats, highs: Floats, points: Floats) -> list[int]:
    return [int(((lows <= point) & (point <= highs)).all(axis=1).sum()) for point in points]


@settings(max_examples=60, deadline=None)
@given(populations(), st.integers(1, 4))
def test_counts_are_those_of_the_definition(population: tuple[Floats, Floats, Floats], least: int) -> None:
    expected = by_definition(*population)
    assert count_matches(*population).tolist() == expected
    enough = count_matches(*population, enough=least) >= least
    assert enough.tolist() == [count >= least for count in expected]


@settings(max_examples=120, deadline=None)
@given(population=populations())
def test_the_index_lists_what_the_definition_says(population: tuple[Floats, Floats, Floats]) -> None:
    lows, highs, points = population
    names = 5 * np.arange(len(lows), dtype=np.int32) + 3
    index = Bitmaps(lows, highs, points)
    lists = [names[((lows <= x) & (x <= highs)).all(axis=1)].tolist() for x in points]
    sizes, members = index.list(names)
    assert index.count().tolist() == sizes.tolist() == [len(one) for one in lists]
    assert members.tolist() == [name for one in lists for name in one]


@pytest.mark.parametrize("wildcard", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("width", [Constant(), PowerLaw(300), PowerLaw(4)])
def test_lists_agree_with_the_library_on_many_events(width: Distribution, wildcard: float) -> None:
    """Several chunks, events that share values, attributes that are open."""
    attributes = (
        Attribute("exact", Zipf(40), Constant()),
        Attribute("range", width=width),
        Attribute("open", width=width, wildcard=wildcard),
    )
    spec = Spec("mixed", attributes, events_follow="interest")
    lows, highs = spec.subscriptions(CHUNK + 300, seed=4)
    points = spec.candidates(4, 0, 700)
    names = np.arange(CHUNK + 300)
    found = match(lows, highs, points)
    bitmaps = Bitmaps(lows, highs, points)
    sizes, members = bitmaps.list(names)
    assert np.array_equal(sizes, found.sizes())
    assert np.array_equal(members, found.members)
    assert np.array_equal(bitmaps.count(), sizes)


@pytest.mark.parametrize("name", ["uniform-1", "power-law-2", "power-law-3", "uniform-5", "power-law-8"])
def test_counts_agree_with_the_library_across_chunks(name: str) -> None:
    spec = workloads.named(name)
    lows, highs = spec.subscriptions(2 * CHUNK + 77, seed=8)
    points = spec.candidates(8, 0, 300)
    counts = count_matches(lows, highs, points)
    assert np.array_equal(counts, match(lows, highs, points).sizes())
    assert np.array_equal(count_matches(lows, highs, points, enough=3) >= 3, counts >= 3)
