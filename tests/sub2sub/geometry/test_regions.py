"""The minimal regions: one for each set of subscriptions that are exactly those around some point."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from sub2sub import InputError, minimal_regions, normalise
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import Population, populations

feasible = st.integers(1, 3).flatmap(lambda d: populations(st.just(d), [9, 5, 4][d - 1]))


@given(feasible)
def test_there_is_one_region_for_each_membership_and_no_other(population: Population) -> None:
    regions = minimal_regions(population.lows, population.highs)
    found = [tuple(regions.members.of(m).tolist()) for m in range(len(regions))]
    assert len(set(found)) == len(found)
    assert set(found) == set(naive.memberships(population.boxes) if population.boxes else [])


@given(feasible)
def test_the_boxes_of_a_region_hold_its_points_and_no_others(population: Population) -> None:
    regions = minimal_regions(population.lows, population.highs)
    boxes = [
        [naive.half_open(*ends) for ends in zip(*regions.boxes(m), strict=True)] for m in range(len(regions))
    ]
    everything = [box for part in boxes for box in part]
    assert not any(naive.overlap(a, b) for a, b in combinations(everything, 2))
    if not population.boxes:
        return
    points = naive.memberships(population.boxes)
    for m, part in enumerate(boxes):
        members = tuple(regions.members.of(m).tolist())
        for point in points[members]:
            assert any(naive.contains_point(box, point) for box in part)
        for others, elsewhere in points.items():
            if others != members:
                assert not any(naive.contains_point(box, point) for box in part for point in elsewhere)


def test_a_region_need_not_be_connected() -> None:
    """Left and right of the inner range only the outer one holds: two regions would not be minimal."""
    regions = minimal_regions([[0.0], [4.0]], [[9.0], [5.0]])
    assert [regions.members.of(m).tolist() for m in range(len(regions))] == [[0], [0, 1]]
    assert [len(regions.boxes(m)[0]) for m in range(len(regions))] == [2, 1]


def test_equal_subscriptions_are_in_one_region_however_many() -> None:
    regions = minimal_regions(np.zeros((1000, 2)), np.ones((1000, 2)))
    assert len(regions) == 1
    assert regions.members.of(0).tolist() == list(range(1000))


def test_nobody_subscribed_there_is_no_region() -> None:
    assert len(minimal_regions(np.empty((0, 3)), np.empty((0, 3)))) == 0


def test_shapely_gives_every_region_the_same_area() -> None:
    rng = np.random.default_rng(3)
    lows = rng.integers(0, 12, (25, 2)).astype(float)
    highs = lows + rng.integers(1, 9, (25, 2))
    regions = minimal_regions(lows, highs)
    shapes = shapely.box(*lows.T, *highs.T)
    stored = normalise(lows, highs)
    assert len(regions) > 60
    for m in range(len(regions)):
        members = regions.members.of(m)
        inside = shapely.intersection_all(shapes[members])
        alone = inside.difference(shapely.union_all(np.delete(shapes, members)))
        box_lows, box_highs = regions.boxes(m)
        assert (box_highs - box_lows).prod(axis=1).sum() == pytest.approx(alone.area, abs=1e-9)
        corner = box_lows[0]
        assert (
            np.flatnonzero(((stored[0] <= corner) & (corner < stored[1])).all(axis=1)).tolist()
            == members.tolist()
        )


def test_a_population_whose_regions_do_not_fit_is_refused_before_they_are_made() -> None:
    rng = np.random.default_rng(1)
    lows = rng.random((10_000, 5)) * 0.3
    with pytest.raises(
        InputError, match=r"max_bytes = 1000000, got 10000 of 5 attributes .* stopped counting at"
    ):
        minimal_regions(lows, lows + 0.6, max_bytes=10**6)


def test_the_bound_is_exact() -> None:
    lows, highs = [[0.0], [2.0]], [[9.0], [5.0]]
    needed = 3 * (16 + 8) + (1 + 2 + 1) * 8
    assert len(minimal_regions(lows, highs, max_bytes=needed)) == 2
    with pytest.raises(InputError, match="max_bytes"):
        minimal_regions(lows, highs, max_bytes=needed - 1)
