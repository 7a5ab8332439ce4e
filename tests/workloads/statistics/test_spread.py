"""Distributions from pieces are what NumPy says of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workloads
from workloads import frames
from workloads.frames.saved import Attribute
from workloads.spec.types import ValueType
from workloads.statistics.attributes import axes, density, shares
from workloads.statistics.spread import QUANTILES, Spread


def test_spreads_are_numpys_quantiles_in_one_piece_and_in_many() -> None:
    rng = np.random.default_rng(3)
    for rows in (rng.integers(0, 50, 3000).astype(float), rng.exponential(size=3000)):
        pieces = [Spread.of(piece) for piece in np.array_split(rows, 7)]
        row = Spread.together(pieces).row("x")
        assert (row["count"], row["min"], row["max"]) == (3000, rows.min(), rows.max())
        assert row["mean"] == pytest.approx(rows.mean())
        for name, share in QUANTILES.items():
            assert row[name] == np.quantile(rows, share, method="inverted_cdf")


def test_spreads_of_many_rows_are_off_by_less_than_a_knot() -> None:
    rows = np.random.default_rng(4).normal(size=20_000)
    spread = Spread.together([Spread.of(piece, knots=500) for piece in np.array_split(rows, 3)])
    assert spread.count == 20_000
    assert len(spread.values) <= 1506
    for share in QUANTILES.values():
        rank = np.count_nonzero(rows <= spread.quantile(share)) / 20_000
        assert rank == pytest.approx(share, abs=2 / 500)


def test_shares_of_open_ends_and_the_density_of_interest_are_those_of_the_rows(spark: Any) -> None:
    spec = workloads.Spec("open", (workloads.Attribute("a", wildcard=0.3, low=2.0, high=5.0),))
    lows, highs = spec.subscriptions(4000, 2)
    types = {"a": ValueType()}
    found = axes(frames.subscriptions(spark, spec, 4000, 2), {"a": Attribute(types["a"], (2.0, 5.0))})
    (row,) = shares(types, found, 4000).to_pylist()
    assert row["open_low"] == np.mean(lows == 2.0)
    assert row["open_high"] == np.mean(highs == 5.0)
    assert row["exact"] == np.mean(lows == highs)
    table = density(types, found, 4000)
    for value, share in zip(table["value"].to_pylist()[::17], table["share"].to_pylist()[::17], strict=True):
        assert share == pytest.approx(np.mean((lows <= value) & (value <= highs)))
