"""Distributions, open ends, widths and interest are what NumPy says of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import workloads
from workloads import frames
from workloads.frames.saved import Attribute
from workloads.frames.statistics import distribution
from workloads.spec.types import ValueType
from workloads.statistics.attributes import density, shares, widths


def test_distributions_are_numpys_quantiles(spark: Any) -> None:
    rng = np.random.default_rng(3)
    for rows in (rng.integers(0, 50, 3000).astype(float), rng.exponential(size=3000)):
        frame = spark.createDataFrame(pa.table({"x": rows})).repartition(7)
        (row,) = distribution(frame, "x", "x").toArrow().to_pylist()
        assert (row["count"], row["min"], row["max"]) == (3000, rows.min(), rows.max())
        assert row["mean"] == pytest.approx(rows.mean())
        for share in (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999):
            assert row[f"p{100 * share:g}"] == np.quantile(rows, share, method="inverted_cdf")


def test_shares_of_open_ends_and_the_density_of_interest_are_those_of_the_rows(spark: Any) -> None:
    spec = workloads.Spec("open", (workloads.Attribute("a", wildcard=0.3, low=2.0, high=5.0),))
    lows, highs = spec.subscriptions(4000, 2)
    rows, attributes = frames.subscriptions(spark, spec, 4000, 2), {"a": Attribute(ValueType(), (2.0, 5.0))}
    ranges = shares(rows, attributes)
    (row,) = ranges.to_pylist()
    assert row["open_low"] == np.mean(lows == 2.0)
    assert row["open_high"] == np.mean(highs == 5.0)
    assert row["exact"] == np.mean(lows == highs)
    table = density(rows, attributes, ranges)
    for value, share in zip(table["value"].to_pylist()[::17], table["share"].to_pylist()[::17], strict=True):
        assert share == pytest.approx(np.mean((lows <= value) & (value <= highs)))
    found = widths(rows, attributes)
    below = np.cumsum(found["share"].to_numpy())
    expected = [np.mean(highs - lows <= width) for width in found["width"].to_pylist()]
    assert np.abs(below - expected).max() < 0.002


def test_infinite_ends_are_open_and_have_no_width(spark: Any) -> None:
    table = {"subscriber": [0, 1], "x_low": [-np.inf, 1.0], "x_high": [3.0, np.inf]}
    rows, attributes = (
        spark.createDataFrame(pa.table(table)),
        {"x": Attribute(ValueType(), (-np.inf, np.inf))},
    )
    (row,) = (ranges := shares(rows, attributes)).to_pylist()
    assert (row["least"], row["greatest"], row["first"], row["last"]) == (1.0, 3.0, "1", "3")
    assert (row["open_low"], row["open_high"], row["exact"]) == (0.5, 0.5, 0.0)
    assert set(density(rows, attributes, ranges)["share"].to_pylist()) == {1.0}
    assert widths(rows, attributes).num_rows == 0
