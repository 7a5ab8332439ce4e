"""Matching finds exactly the subscriptions that contain an event, by index and by scanning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sub2sub import InputError, match
from sub2sub.compiled.common.threads import threads, use_threads
from sub2sub.geometry import matching
from sub2sub.geometry.matching import match_boxes
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import GRID, NASTY, Population, populations

MANY = 100  # events, enough for an index


@given(populations(st.integers(1, 6), 8), st.randoms(use_true_random=False), st.booleans())
def test_an_event_matches_exactly_the_boxes_around_it(population: Population, random, many: bool) -> None:  # type: ignore[no-untyped-def]
    d = population.lows.shape[1]
    events = [[random.choice(GRID + NASTY) for _ in range(d)] for _ in range(MANY if many else 5)]
    matches = match(population.lows, population.highs, events)
    assert len(matches.offsets) == len(events) + 1
    for e, event in enumerate(events):
        wanted = [i for i, box in enumerate(population.boxes) if naive.contains_point(box, event)]
        assert matches.of(e).tolist() == wanted


def test_matches_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, before = np.random.default_rng(1), threads()
    lows = rng.random((9000, 2))
    highs, events = lows + rng.random((9000, 2)) / 4, rng.random((MANY, 2))
    monkeypatch.setattr(matching, "_WORK", 1)  # small chunks, so that several threads work
    found = []
    for number in (1, 2, 3):
        use_threads(number)
        found.append(match(lows, highs, events))
    use_threads(before)
    for other in found[1:]:
        assert other.offsets.tolist() == found[0].offsets.tolist()
        assert other.members.tolist() == found[0].members.tolist()


@pytest.mark.parametrize(("n", "d"), [(1, 1), (63, 2), (64, 2), (65, 3), (1000, 1), (1000, 5), (500, 16)])
def test_the_index_finds_what_a_scan_finds(n: int, d: int) -> None:
    rng = np.random.default_rng(n + d)
    lows = rng.random((n, d))
    highs = lows + rng.random((n, d)) ** 4
    lows[::7], highs[::7] = -np.inf, np.inf
    highs[::5] = np.maximum(lows[::5], 0.5)
    events = rng.random((MANY, d))
    events[::9] = lows[rng.integers(0, n, len(events[::9]))]
    events[~np.isfinite(events)] = 0.5
    indexed = match(lows, highs, events)
    inside = ((lows <= events[:, None]) & (events[:, None] <= highs)).all(axis=2)
    assert indexed.offsets.tolist() == np.concatenate(([0], inside.sum(axis=1).cumsum())).tolist()
    assert indexed.members.tolist() == np.nonzero(inside)[1].tolist()
    scanned = [match(lows, highs, events[e : e + 1]).members for e in range(MANY)]
    assert np.concatenate(scanned).tolist() == indexed.members.tolist()


@pytest.mark.parametrize("events", [0, 3, MANY])
def test_nobody_subscribed_nobody_matches(events: int) -> None:
    matches = match(np.empty((0, 2)), np.empty((0, 2)), np.zeros((events, 2)))
    assert matches.sizes().tolist() == [0] * events


def test_more_matches_than_room_at_the_start_are_all_there() -> None:
    n = 300
    matches = match(np.zeros((n, 1)), np.ones((n, 1)), np.full((MANY, 1), 0.5))
    assert matches.members.tolist() == list(range(n)) * MANY


def test_a_hundred_thousand_of_each_are_matched_without_a_table_of_all_pairs() -> None:
    """As booleans the result would take ten gigabytes; there is room for the index and the matches only."""
    n = 100_000
    lows = np.arange(n, dtype=float)[:, None]
    matches = match_boxes(lows, lows + 0.5, lows[::-1].copy())
    assert matches.members.tolist() == list(range(n))[::-1]


def test_events_of_another_dimension_are_refused() -> None:
    with pytest.raises(InputError, match=r"^events: expected 2 attributes, got 1$"):
        match([[0.0, 0.0]], [[1.0, 1.0]], [[0.5]])
