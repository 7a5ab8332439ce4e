"""The box algebra is exact on all doubles, and agrees with shapely in the plane."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub import InputError, closed, contains, gap_distance, intersection, normalise, overlaps, subtract
from sub2sub.geometry.boxes import LARGEST, TOP, points
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import NASTY, Population, populations

Floats = NDArray[np.float64]
finite = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != TOP)
any_dimension = st.integers(1, 6)


def boxes_of(lows: Floats, highs: Floats) -> list[naive.Box]:
    return [
        list(zip(low, high, strict=True)) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
    ]


@given(finite, finite, finite)
@example(-0.0, 0.0, 0.0)
@example(0.0, 0.0, -0.0)
@example(-5e-324, -5e-324, 0.0)
@example(LARGEST, LARGEST, LARGEST)
@example(-LARGEST, -LARGEST, -LARGEST)
@example(-LARGEST, LARGEST, LARGEST)
def test_a_half_open_box_contains_what_its_closed_range_contains(a: float, b: float, x: float) -> None:
    low, high = min(a, b), max(a, b)
    lows, highs = normalise([[low]], [[high]])
    at = points([[x]])
    assert bool(lows[0, 0] <= at[0, 0] < highs[0, 0]) == (low <= x <= high)


@given(st.sampled_from([-math.inf, *NASTY, math.inf]), st.sampled_from([-math.inf, *NASTY, math.inf]))
def test_stored_bounds_are_finite_ordered_and_free_of_negative_zeros(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    if low == math.inf or high == -math.inf:
        return
    stored = np.concatenate(normalise([[low]], [[high]]), axis=1)[0]
    assert np.isfinite(stored).all()
    assert stored[0] < stored[1]
    assert not np.signbit(stored[stored == 0.0]).any()
    assert np.isfinite(stored[1] / 2 - stored[0] / 2)


@given(finite, finite)
def test_closed_undoes_normalise(a: float, b: float) -> None:
    low, high = min(a, b, TOP), max(a, b)
    back = closed(*normalise([[low]], [[high]]))
    assert (back[0][0, 0], back[1][0, 0]) == (low, high)


@pytest.mark.parametrize(
    ("lows", "highs", "message"),
    [
        ([[0.0], [math.nan]], [[1.0], [1.0]], r"^lows row 1, attribute 0: expected a number, got nan$"),
        ([[0.0, 0.0]], [[1.0, math.nan]], r"^highs row 0, attribute 1: expected a number, got nan$"),
        (
            [[0.0], [0.0], [2.0]],
            [[1.0], [1.0], [1.0]],
            r"^lows row 2, attribute 0: .*not above its high.*2\.0$",
        ),
        ([[math.inf]], [[math.inf]], r"^lows row 0, attribute 0: expected a low below inf, got inf$"),
        ([[-math.inf]], [[-math.inf]], r"^highs row 0, attribute 0: expected a high above -inf, got -inf$"),
        (
            [[0], [2**53 + 1]],
            [[1], [2**60]],
            r"^lows row 1, attribute 0: .*within ±2\^53, got 9007199254740993$",
        ),
        ([[0.0]], [[0.0, 1.0]], r"^highs: expected shape \(1, 1\) as lows, got \(1, 2\)$"),
        ([0.0], [1.0], r"^lows: expected shape \(n, d\), d from 1 to 16, got \(1,\)$"),
        ([[0.0] * 17], [[1.0] * 17], r"^lows: expected shape .* got \(1, 17\)$"),
        ([[0.0], [0.0, 1.0]], [[1.0], [1.0]], r"^lows: expected rows of equal length$"),
        ([["0"]], [["1"]], r"^lows: expected floats or integers, got <U1$"),
        ([[None]], [[1.0]], r"^lows: expected floats or integers, got object$"),
    ],
)
def test_ranges_that_are_none_are_refused_with_their_row(lows: object, highs: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        normalise(lows, highs)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_an_event_has_to_be_a_finite_point(x: float) -> None:
    with pytest.raises(InputError, match=r"^events row 1, attribute 0: expected a finite number"):
        points([[0.0], [x]])


def test_normalise_leaves_its_input_alone_and_takes_other_number_types() -> None:
    lows, highs = np.array([[-0.0]]), np.array([[1.0]])
    normalise(lows, highs)
    assert np.signbit(lows[0, 0])
    assert highs[0, 0] == 1.0
    for dtype in (np.int8, np.uint64, np.float32, np.bool_):
        assert normalise(np.zeros((1, 1), dtype), np.ones((1, 1), dtype))[0].dtype == np.float64


@given(populations(any_dimension, 5, least=1))
def test_overlap_containment_and_intersection_are_those_of_the_oracle(population: Population) -> None:
    lows, highs = normalise(population.lows, population.highs)
    boxes = boxes_of(lows, highs)
    for i in range(len(boxes)):
        shared = overlaps(lows[i], highs[i], lows, highs)
        assert shared.tolist() == [naive.overlap(boxes[i], box) for box in boxes]
        inside = contains(lows[i], highs[i], lows, highs)
        assert inside.tolist() == [not naive.minus(box, boxes[i]) for box in boxes]
        common = boxes_of(*intersection(lows[i], highs[i], lows, highs))
        for j in np.flatnonzero(shared):
            for point in naive.corners([boxes[i], boxes[j]]):
                both = naive.contains_point(boxes[i], point) and naive.contains_point(boxes[j], point)
                assert naive.contains_point(common[j], point) == both
        for j in np.flatnonzero(~shared):
            assert any(low >= high for low, high in common[j])


@settings(max_examples=60)
@given(populations(st.integers(1, 4), 4, least=2))
def test_subtraction_leaves_disjoint_boxes_holding_exactly_the_rest(population: Population) -> None:
    lows, highs = normalise(population.lows, population.highs)
    boxes = boxes_of(lows, highs)
    rest = boxes_of(*subtract(lows[:1], highs[:1], lows[1], highs[1]))
    assert len(rest) <= 2 * lows.shape[1]
    assert not any(naive.overlap(a, b) for a, b in combinations(rest, 2))
    for point in naive.corners(boxes[:2]):
        held = naive.contains_point(boxes[0], point) and not naive.contains_point(boxes[1], point)
        assert any(naive.contains_point(piece, point) for piece in rest) == held


@given(populations(any_dimension, 6, least=2))
def test_subtracting_from_many_is_subtracting_from_each(population: Population) -> None:
    lows, highs = normalise(population.lows, population.highs)
    together = boxes_of(*subtract(lows[1:], highs[1:], lows[0], highs[0]))
    boxes = boxes_of(lows, highs)
    assert sorted(together) == sorted(piece for box in boxes[1:] for piece in naive.minus(box, boxes[0]))


@given(populations(any_dimension, 5, least=1))
def test_gap_distance_is_euclidean_and_zero_exactly_where_boxes_overlap(population: Population) -> None:
    lows, highs = normalise(population.lows, population.highs)
    ends = list(zip(*(side.tolist() for side in closed(lows, highs)), strict=True))
    for i in range(len(lows)):
        distance = gap_distance(lows[i], highs[i], lows, highs)
        assert not np.isnan(distance).any()
        assert ((distance == 0.0) == overlaps(lows[i], highs[i], lows, highs)).all()
        wanted = [naive.gap_distance(*ends[i], *other) for other in ends]
        assert distance == pytest.approx(wanted, rel=1e-12, abs=5e-324)


integer_boxes = st.lists(st.tuples(*[st.integers(0, 6), st.integers(1, 5)] * 2), min_size=1, max_size=8)


def planar(drawn: list[tuple[int, ...]]) -> tuple[Floats, Floats]:
    """Half-open boxes in the plane, from x, width, y, height."""
    table = np.array(drawn, float)
    lows = table[:, [0, 2]]
    return lows, lows + table[:, [1, 3]]


def polygons(lows: Floats, highs: Floats) -> list[shapely.Polygon]:
    return list(shapely.box(*lows.T, *highs.T))


@given(integer_boxes)
def test_shapely_finds_the_same_remainder_when_boxes_are_taken_away_one_by_one(
    drawn: list[tuple[int, ...]],
) -> None:
    lows, highs = planar(drawn)
    shapes = polygons(lows, highs)
    rest_lows, rest_highs, rest = lows[:1], highs[:1], shapes[0]
    for i in range(1, len(lows)):
        rest_lows, rest_highs = subtract(rest_lows, rest_highs, lows[i], highs[i])
        rest = rest.difference(shapes[i])
        pieces = polygons(rest_lows, rest_highs)
        assert sum(piece.area for piece in pieces) == pytest.approx(rest.area, abs=1e-9)
        assert shapely.union_all(pieces).symmetric_difference(rest).area == pytest.approx(0.0, abs=1e-9)


@given(integer_boxes)
def test_shapely_finds_the_same_intersections_coverings_and_distances(drawn: list[tuple[int, ...]]) -> None:
    lows, highs = planar(drawn)
    shapes = polygons(lows, highs)
    for i, j in product(range(len(lows)), repeat=2):
        box, other = (lows[i], highs[i]), (lows[j], highs[j])
        low, high = intersection(*box, *other)
        area = shapes[i].intersection(shapes[j]).area
        assert np.prod(np.maximum(high - low, 0.0)) == area
        assert bool(overlaps(*box, *other)) == (area > 0.0)
        assert bool(contains(*box, *other)) == shapes[i].covers(shapes[j])
        stored = normalise(np.array([lows[i], lows[j]]), np.array([highs[i], highs[j]]))
        distance = gap_distance(stored[0][0], stored[1][0], stored[0][1], stored[1][1])
        assert distance == pytest.approx(shapes[i].distance(shapes[j]))


def test_a_thousand_subscribers_of_one_value_are_one_box_to_a_range() -> None:
    """Closed boxes would fail here: after the first subtraction the value must not be in the remainder."""
    lows, highs = normalise([[0.0], [2.0]], [[9.0], [2.0]])
    rest_lows, rest_highs = subtract(lows[:1], highs[:1], lows[1], highs[1])
    assert not overlaps(rest_lows, rest_highs, lows[1], highs[1]).any()


def test_closed_ranges_that_touch_overlap_and_neighbouring_doubles_do_not() -> None:
    lows, highs = normalise([[0.0], [1.0], [np.nextafter(1.0, 2.0)]], [[1.0], [2.0], [2.0]])
    assert overlaps(lows[0], highs[0], lows, highs).tolist() == [True, True, False]
