"""Typical widths of ranges, as units of distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sub2sub.errors import InputError
from sub2sub.geometry.widths import typical_widths


def test_wildcards_do_not_count_where_others_have_ranges() -> None:
    inf = np.inf
    assert typical_widths([[-inf], [0.0], [2.0], [-inf]], [[inf], [1.0], [5.0], [3.0]]) == (2.0,)


def test_exact_values_count_by_their_steps_and_before_ranges() -> None:
    exact, wide = typical_widths([[10, 0.0], [20, 0.1], [30, 0.5]], [[10, 0.4], [20, 0.5], [30, 0.9]])
    assert exact == 10 / 8
    assert wide == pytest.approx(0.4)


@pytest.mark.parametrize("end", [7.0, np.inf])
def test_where_nothing_can_be_told_the_unit_is_one(end: float) -> None:
    assert typical_widths([[min(end, 7.0)]], [[end]]) == (1.0,)


@given(st.floats(1e-6, 1e6), st.integers(0, 50))
def test_the_units_of_an_attribute_do_not_matter(factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.random((9, 2))
    high = low + [0.2, 0.0] * rng.random((9, 2))
    plain, scaled = typical_widths(low, high), typical_widths(low * factor, high * factor)
    assert np.allclose(np.array(plain) * factor, scaled)


def test_ranges_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="row 1"):
        typical_widths([[0.0], [2.0]], [[1.0], [1.0]])
