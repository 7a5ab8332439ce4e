"""What a spec file says is what the rows hold, at significance 10^-4, across blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyarrow import csv, parquet
from scipy import stats

from workloads.generate.rows import BLOCK
from workloads.spec.files import load

SIGNIFICANCE = 1e-4
ROWS = 3 * BLOCK + 1000
SEEN = np.array([10.0, 20.0, 20.0, 35.0, 50.0])  # 20 is twice as likely
TRADES = np.array([[10.0, 0.25], [20.0, 0.5], [50.0, 0.75]])

SPEC = """
events_follow = "table"
event_table = { file = "trades.parquet", columns = ["p", "q", "r", "s"] }
correlation = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -0.6], [0.0, 0.0, -0.6, 1.0]]

[[attributes]]
name = "seen"
high = 50.0
interest = { kind = "empirical", file = "prices.csv", column = "p" }
width = "constant"

[[attributes]]
name = "spots"
width = "constant"

[attributes.interest]
kind = "mixture"
parts = [{ kind = "normal", mean = 0.2, deviation = 0.05 }, "uniform"]
weights = [3, 1]

[[attributes]]
name = "x"
low = -10.0
high = 10.0
width = "constant"

[[attributes]]
name = "y"
interest = { kind = "power-law", alpha = 2, centre = 0.5 }
width = "constant"
"""

WIDTHS = """
[[attributes]]
name = "a"
low = 100.0
high = 200.0
interest = { kind = "uniform", low = 0.4, high = 0.6 }
width = { kind = "empirical", file = "prices.csv", column = "p" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spec")
    csv.write_csv(pa.table({"p": SEEN}), path / "prices.csv")
    rows = np.column_stack([TRADES, np.full((3, 2), 0.0)])
    parquet.write_table(
        pa.table({name: rows[:, k] for k, name in enumerate("pqrs")}), path / "trades.parquet"
    )
    (path / "spec.toml").write_text(SPEC)
    (path / "widths.toml").write_text(WIDTHS)
    return path


@pytest.fixture(scope="module")
def centres(folder: Path) -> NDArray[np.float64]:
    return load(folder / "spec.toml").subscriptions(ROWS, 21)[0]


def shares(values: NDArray[np.float64], expected: dict[float, float]) -> float:
    """Chi-square probability of the counts of values."""
    counts = [np.count_nonzero(values == value) for value in expected]
    assert sum(counts) == len(values)
    return float(stats.chisquare(counts, len(values) * np.array(list(expected.values()))).pvalue)


def test_values_seen_in_a_table_come_in_its_shares(centres: NDArray[np.float64]) -> None:
    assert shares(centres[:, 0], {10.0: 0.2, 20.0: 0.4, 35.0: 0.2, 50.0: 0.2}) > SIGNIFICANCE


def test_hot_spots_follow_the_mixture(centres: NDArray[np.float64]) -> None:
    normal = stats.truncnorm(-4, 16, 0.2, 0.05)
    assert stats.kstest(centres[:, 1], lambda x: 0.75 * normal.cdf(x) + 0.25 * x).pvalue > SIGNIFICANCE


def test_correlated_attributes_keep_their_own_shapes(centres: NDArray[np.float64]) -> None:
    x, y = centres[:, 2], centres[:, 3]
    assert stats.kstest(x, stats.uniform(-10, 20).cdf).pvalue > SIGNIFICANCE
    halves = np.where(y < 0.5, 4 * y**3, 1 - 4 * (1 - y) ** 3)
    assert stats.kstest(halves, "uniform").pvalue > SIGNIFICANCE
    normal = stats.norm.ppf(np.stack([(x + 10) / 20, halves]).clip(1e-12, 1 - 1e-12))
    measured = np.corrcoef(normal)[0, 1]
    # Fisher's transformation is normal with deviation 1 / sqrt(n - 3).
    z = (np.arctanh(measured) - np.arctanh(-0.6)) * np.sqrt(ROWS - 3)
    assert 2 * stats.norm.sf(abs(z)) > SIGNIFICANCE
    others = np.corrcoef(stats.rankdata(centres[:, 1]), stats.rankdata(x))[0, 1] * np.sqrt(ROWS)
    assert 2 * stats.norm.sf(abs(others)) > SIGNIFICANCE


def test_events_fall_on_the_rows_of_their_table(folder: Path) -> None:
    points = load(folder / "spec.toml").candidates(21, 0, ROWS)
    assert shares(points[:, 0], {10.0: 1 / 3, 20.0: 1 / 3, 50.0: 1 / 3}) > SIGNIFICANCE
    assert set(map(tuple, points[:, :2].tolist())) == set(map(tuple, TRADES.tolist()))


def test_nothing_repeats_from_block_to_block(centres: NDArray[np.float64]) -> None:
    for column in centres[:, 1:].T:
        assert len(np.unique(column)) > 0.9999 * ROWS
    blocks = centres[: 3 * BLOCK, 2].reshape(3, BLOCK)
    for one in range(3):
        for other in range(one):
            score = np.corrcoef(blocks[one], blocks[other])[0, 1] * np.sqrt(BLOCK)
            assert 2 * stats.norm.sf(abs(score)) > SIGNIFICANCE


def test_widths_seen_in_a_table_are_lengths_on_the_axis(folder: Path) -> None:
    lows, highs = load(folder / "widths.toml").subscriptions(20_000, seed=4)
    widths = np.round(highs - lows, 6).ravel()
    assert shares(widths, {10.0: 0.2, 20.0: 0.4, 35.0: 0.2, 50.0: 0.2}) > SIGNIFICANCE
