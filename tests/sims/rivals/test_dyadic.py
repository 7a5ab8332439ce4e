"""Dyadic topics: an exact cover is exact, an enclosing cell encloses, and none smaller does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sims.rivals.below.encoded import point_cells
from sims.rivals.encodings.enclosing_topic import enclosing
from sims.rivals.encodings.exact_cover import cover
from sub2sub.errors import InputError

BITS = 4


@st.composite
def boxes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    d = draw(st.integers(1, 3))
    ends = [sorted(draw(st.tuples(st.integers(0, 15), st.integers(0, 15)))) for _ in range(d)]
    return np.array([[e[0] for e in ends]], float), np.array([[e[1] for e in ends]], float)


def cell_box(cell: int, bits: int, d: int) -> tuple[list[int], list[int]]:
    """The closed box of a cell."""
    depth = int(cell).bit_length() - 1
    low, high = [0] * d, [2**bits - 1] * d
    for level in range(depth):
        axis, half = level % d, 2 ** (bits - 1 - level // d)
        if cell >> (depth - 1 - level) & 1:
            low[axis] += half
        else:
            high[axis] -= half
    return low, high


def grid(d: int) -> np.ndarray:
    return np.stack(np.meshgrid(*[np.arange(2**BITS)] * d, indexing="ij"), axis=-1).reshape(-1, d)


def inside(points: np.ndarray, low: object, high: object) -> np.ndarray:
    return ((points >= np.asarray(low)) & (points <= np.asarray(high))).all(axis=1)


@given(boxes())
def test_a_cover_holds_every_point_of_the_box_once_and_no_other(box: tuple[np.ndarray, np.ndarray]) -> None:
    low, high = box
    d = low.shape[1]
    found = cover(low, high, BITS, most=10_000)
    assert found is not None
    times = sum((inside(grid(d), *cell_box(cell, BITS, d)).astype(int) for cell in found[1].tolist()), 0)
    assert np.array_equal(times, inside(grid(d), low[0], high[0]).astype(int))


@given(boxes())
def test_no_two_cells_of_a_cover_could_be_one(box: tuple[np.ndarray, np.ndarray]) -> None:
    found = cover(*box, BITS, most=10_000)
    assert found is not None
    cells = set(found[1].tolist())
    assert not any(cell ^ 1 in cells for cell in cells if cell > 1)


@given(boxes())
def test_the_enclosing_cell_encloses_and_neither_half_does(box: tuple[np.ndarray, np.ndarray]) -> None:
    low, high = box
    d = low.shape[1]
    (cell,) = enclosing(low, high, BITS).tolist()

    def holds(candidate: int) -> bool:
        a, b = cell_box(candidate, BITS, d)
        return bool((np.array(a) <= low[0]).all() and (high[0] <= np.array(b)).all())

    assert holds(cell)
    if cell.bit_length() - 1 < BITS * d:
        assert not holds(2 * cell)
        assert not holds(2 * cell + 1)


@given(st.integers(1, 3), st.data())
def test_the_cell_of_a_point_is_that_point(d: int, data: st.DataObject) -> None:
    point = [data.draw(st.integers(0, 15)) for _ in range(d)]
    (cell,) = point_cells(np.array([point], float), BITS).tolist()
    assert cell_box(cell, BITS, d) == (point, point)


def test_covers_of_several_boxes_stand_one_after_the_other() -> None:
    low, high = np.array([[1.0], [0.0], [3.0]]), np.array([[6.0], [15.0], [3.0]])
    found = cover(low, high, BITS, most=100)
    assert found is not None
    offsets, cells = found
    alone = [cover(low[i : i + 1], high[i : i + 1], BITS, 100) for i in range(3)]
    assert [cells[offsets[i] : offsets[i + 1]].tolist() for i in range(3)] == [
        a[1].tolist() for a in alone if a
    ]


def test_a_cover_of_too_many_cells_is_none() -> None:
    assert cover(np.array([[1.0]]), np.array([[14.0]]), BITS, most=5) is None


def test_grids_too_fine_for_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match="bits = 20: expected at most 15 with 4 attributes"):
        point_cells(np.zeros((1, 4)), 20)
