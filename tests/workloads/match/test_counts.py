"""Counting with bitmaps agrees with the definition, and with the library's lists of matches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import workloads
from sub2sub.geometry.matching import match
from workloads.match.bitmaps import CHUNK
from workloads.match.counts import count_matches, has_at_least

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


@settings(max_examples=200, deadline=None)
@given(populations(), st.integers(0, 4))
def test_counts_are_those_of_the_definition(population: tuple[Floats, Floats, Floats], least: int) -> None:
    expected = by_definition(*population)
    assert count_matches(*population).tolist() == expected
    assert has_at_least(*population, least).tolist() == [count >= least for count in expected]


@pytest.mark.parametrize("name", ["uniform-1", "power-law-2", "power-law-3", "uniform-5", "power-law-8"])
def test_counts_agree_with_the_library_across_chunks(name: str) -> None:
    spec = workloads.named(name)
    lows, highs = spec.subscriptions(2 * CHUNK + 77, seed=8)
    points = spec.candidates(8, 0, 300)
    counts = count_matches(lows, highs, points)
    assert np.array_equal(counts, match(lows, highs, points).sizes())
    assert np.array_equal(has_at_least(lows, highs, points, 3), counts >= 3)
