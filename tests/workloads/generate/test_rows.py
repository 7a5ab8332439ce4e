"""A row is a pure function of (seed, row), independent of the range of rows that is drawn."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.generate.rows import BLOCK, uniforms

ROWS = st.integers(0, 3 * BLOCK)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), a=ROWS, b=ROWS)
def test_any_range_of_rows_is_a_slice_of_the_whole(seed: int, a: int, b: int) -> None:
    start, stop = min(a, b), max(a, b)
    whole = uniforms(seed, "x", 0, 3 * BLOCK)
    assert np.array_equal(uniforms(seed, "x", start, stop), whole[start:stop])


def test_blocks_columns_and_seeds_draw_apart() -> None:
    draws = [
        uniforms(1, "x", 0, BLOCK),
        uniforms(1, "x", BLOCK, 2 * BLOCK),
        uniforms(1, "y", 0, BLOCK),
        uniforms(2, "x", 0, BLOCK),
    ]
    assert len(np.unique(np.concatenate(draws))) == 4 * BLOCK
    # Four deviations of the sample correlation of independent draws.
    assert np.abs(np.corrcoef(draws) - np.eye(4)).max() < 4 / np.sqrt(BLOCK)


def test_known_draws_do_not_change_between_versions() -> None:
    """Golden: a workload of a given seed must stay the same for ever."""
    words = (uniforms(42, "subscription/0/interest", 65_534, 65_538) * 2**53).astype(np.int64)
    assert words.tolist() == [4342449459842721, 6113262956971432, 152347011483479, 8984820152918845]
