"""Units of distance: they change which peers are near, but not which overlap or what is delivered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sims.engine import Simulation
from sims.engine.faults import Churn
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.compiled.vicinity.proximity import overlap
from sub2sub.errors import InputError
from sub2sub.geometry.widths import typical_widths
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import OverlaySettings

LONG = 2.0**40


def subscriptions(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Small ranges along a very long axis and a short one."""
    rng = np.random.default_rng(seed)
    low, width = rng.random((n, 2)) * 0.9, rng.random((n, 2)) * 0.1
    return low * [LONG, 1.0], (low + width) * [LONG, 1.0]


@given(st.integers(0, 100), st.floats(1e-9, 1e12), st.floats(1e-9, 1e12))
def test_who_overlaps_whom_is_exactly_the_same(seed: int, first: float, second: float) -> None:
    people = Population.of(*subscriptions(12, seed), seed=1)
    people.measure([first, second])
    for a in range(12):
        for b in range(12):
            assert overlap(people.boxes, a, b) == overlap(people.scaled, a, b)
    mantissas, _ = np.frexp(people.scale)
    assert (mantissas == 0.5).all(), "powers of two change no digit of a coordinate"


def test_publishers_find_what_a_short_axis_decides() -> None:
    lows, highs = subscriptions(600, 3)
    rng = np.random.default_rng(4)
    events = (lows + rng.random(lows.shape) * (highs - lows))[rng.permutation(600)]
    soon = {}
    for axes in ((), (LONG, 1.0)):
        overlay = Overlay.of(lows, highs, seed=1, settings=OverlaySettings(axes=axes)).run(20)
        walks = find_entry(Links.of(overlay), overlay.network, events, scale=overlay.population.scale)
        soon[axes] = walks.found_within(3).mean()
        assert overlay.publish(events[:100]).hit_ratio == 1.0
    assert soon[LONG, 1.0] > soon[()] + 0.05


def test_exact_values_are_found_by_usual_widths_and_not_by_equal_axes() -> None:
    rng = np.random.default_rng(6)
    kind, low = np.floor(50 * rng.random((800, 1)) ** 3), rng.random((800, 1)) * 0.6
    lows, highs = np.hstack([kind, low]), np.hstack([kind, low + 0.4 * rng.random((800, 1))])
    events = (lows + rng.random(lows.shape) * (highs - lows))[rng.permutation(800)]
    soon = {}
    for axes in ((49.0, 1.0), typical_widths(lows[:200], highs[:200])):
        overlay = Overlay.of(lows, highs, seed=1, settings=OverlaySettings(axes=axes)).run(20)
        walks = find_entry(Links.of(overlay), overlay.network, events, scale=overlay.population.scale)
        soon[axes] = walks.found_within(5).mean()
    equal, by_widths = soon.values()
    assert by_widths > equal + 0.2


@pytest.mark.filterwarnings("error::RuntimeWarning")  # as of inf - inf
def test_open_ends_stay_open_in_small_units() -> None:
    inf = np.inf
    overlay = Overlay.of(
        [[-inf], [0.0], [0.5]], [[0.2], [inf], [0.6]], seed=1, settings=OverlaySettings(axes=(1e-3,))
    ).run(8)
    walks = find_entry(
        Links.of(overlay), overlay.network, [[-1e9], [0.1], [1e9]], scale=overlay.population.scale
    )
    assert walks.found.all()
    assert overlay.publish([[-1e9], [0.1], [0.55], [1e9]]).events["delivered"].tolist() == [1, 2, 2, 1]


def test_newcomers_and_resumed_runs_are_measured_alike(tmp_path: Path) -> None:
    def made() -> Simulation[Overlay]:
        settings = OverlaySettings(axes=(LONG, 1.0))
        overlay = Overlay.of(*subscriptions(60, 5), seed=2, spare=60, settings=settings)
        return Simulation(overlay).add(Churn(0.1), start=5, until=9)

    whole, part, rest = made(), made(), made()
    whole.run(12)
    part.run(8)
    part.save(tmp_path / "checkpoint")
    rest.load(tmp_path / "checkpoint")
    rest.run(12)
    people = whole.overlay.population
    assert (people.scaled[:, :, :2] == people.boxes[:, :, :2] * people.scale[:2]).all()
    assert rest.tables == whole.tables
    assert [a.tolist() for a in rest.overlay.vicinity.links()] == [
        a.tolist() for a in whole.overlay.vicinity.links()
    ]


@pytest.mark.parametrize(
    ("axes", "message"),
    [((1.0,), "axes: expected 2 lengths"), ((1.0, 0.0), "above 0, got 0"), ((1.0, float("inf")), "finite")],
)
def test_lengths_that_cannot_be_are_refused(axes: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Overlay.of(*subscriptions(5, 1), settings=OverlaySettings(axes=axes))
