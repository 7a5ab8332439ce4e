"""Generated values follow the definitions of their distributions.

Each test runs once on fixed seeds, at significance 10^-4: one in ten thousand seeds would fail by chance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from sub2sub.errors import InputError
from workloads.generate.rows import BLOCK, uniforms
from workloads.spec.copula import correlate, factor
from workloads.spec.distributions import (
    Constant,
    Distribution,
    Empirical,
    Mixture,
    Normal,
    PowerLaw,
    Uniform,
    Zipf,
)

Floats = NDArray[np.float64]
SIGNIFICANCE = 1e-4
ROWS = 4 * BLOCK


def truncated(mean: float, deviation: float) -> Callable[[Floats], Floats]:
    frozen = stats.truncnorm(-mean / deviation, (1 - mean) / deviation, mean, deviation)
    return lambda x: np.asarray(frozen.cdf(x))


def skewed_peak(x: Floats) -> Floats:
    """Distribution function of density proportional to (1 - |x - 0.2| / reach)^2.5."""
    left = 0.2 * (np.minimum(x, 0.2) / 0.2) ** 3.5
    return left + 0.8 * (1 - ((1 - np.maximum(x, 0.2)) / 0.8) ** 3.5)


CONTINUOUS: list[tuple[Distribution, Callable[[Floats], Floats]]] = [
    (Uniform(), lambda x: x),
    (Uniform(0.25, 0.5), lambda x: np.clip((x - 0.25) * 4, 0, 1)),
    (PowerLaw(4), lambda x: 1 - (1 - x) ** 5),
    (PowerLaw(0.5), lambda x: 1 - (1 - x) ** 1.5),
    (PowerLaw(1, centre=0.5), lambda x: np.where(x < 0.5, 2 * x**2, 1 - 2 * (1 - x) ** 2)),
    (PowerLaw(2.5, centre=0.2), skewed_peak),
    (PowerLaw(3, centre=1.0), lambda x: x**4),
    (Normal(0.5, 0.1), truncated(0.5, 0.1)),
    (Normal(0.05, 0.4), truncated(0.05, 0.4)),
    (
        Mixture((Normal(0.2, 0.02), Uniform(0.5, 1.0)), (3.0, 1.0)),
        lambda x: 0.75 * truncated(0.2, 0.02)(x) + 0.25 * np.clip(2 * x - 1, 0, 1),
    ),
]


@pytest.mark.parametrize(("distribution", "cdf"), CONTINUOUS, ids=range(len(CONTINUOUS)))
def test_continuous_values_follow_their_distribution_function(
    distribution: Distribution, cdf: Callable[[Floats], Floats]
) -> None:
    values = distribution.values(uniforms(11, "values", 0, ROWS))
    assert values.min() >= 0
    assert values.max() <= 1
    if isinstance(distribution, Empirical):  # a third of it is the least value itself
        values = values[values > 0]
        assert stats.kstest(values, lambda x: (3 * cdf(x) - 1) / 2).pvalue > SIGNIFICANCE
    else:
        assert stats.kstest(values, cdf).pvalue > SIGNIFICANCE


@pytest.mark.parametrize("exponent", [0.0, 0.8, 1.0, 2.0])
def test_zipf_shares_fall_with_the_rank(exponent: float) -> None:
    values = Zipf(50, exponent, order="rising").values(uniforms(12, "values", 0, ROWS))
    counts = np.bincount((values * 50).astype(int), minlength=50)
    shares = np.arange(1, 51.0) ** -exponent
    assert stats.chisquare(counts, ROWS * shares / shares.sum()).pvalue > SIGNIFICANCE


def test_zipf_orders_differ_only_in_where_values_lie() -> None:
    u = uniforms(13, "values", 0, BLOCK)
    counts = {}
    for order in ("rising", "shuffled", "centre"):
        cells = (Zipf(20, 1.0, order).values(u) * 20).astype(int)
        counts[order] = np.bincount(cells, minlength=20)
        assert sorted(counts[order]) == sorted(counts["rising"])
    assert set(np.argsort(counts["centre"])[-2:]) == {9, 10}
    assert counts["shuffled"].tolist() != counts["rising"].tolist()


def test_spread_zipf_is_uniform_within_each_part() -> None:
    values = Zipf(8, 1.0, spread=True).values(uniforms(14, "values", 0, ROWS))
    assert stats.kstest(values * 8 % 1.0, "uniform").pvalue > SIGNIFICANCE


def test_empirical_values_come_in_proportion_to_their_weights() -> None:
    values = Empirical((0.1, 0.9, 0.5), (1.0, 2.0, 5.0)).values(uniforms(15, "values", 0, ROWS))
    counts = [np.count_nonzero(values == value) for value in (0.1, 0.9, 0.5)]
    assert stats.chisquare(counts, ROWS * np.array([1, 2, 5]) / 8).pvalue > SIGNIFICANCE


def test_continuous_values_do_not_repeat_across_blocks() -> None:
    for distribution in (Uniform(), PowerLaw(4), Normal()):
        values = distribution.values(uniforms(16, "values", 0, ROWS))
        assert len(np.unique(values)) > 0.9999 * ROWS


def test_a_copula_gives_the_correlation_and_keeps_every_column_uniform() -> None:
    matrix = [[1.0, 0.7, -0.3], [0.7, 1.0, 0.0], [-0.3, 0.0, 1.0]]
    independent = np.stack([uniforms(17, f"{axis}", 0, ROWS) for axis in range(3)], axis=1)
    u = correlate(independent, factor(matrix, 3))
    for column in u.T:
        assert stats.kstest(column, "uniform").pvalue > SIGNIFICANCE
    measured = np.corrcoef(stats.norm.ppf(u).T)
    assert np.abs(measured - matrix).max() < 4 / np.sqrt(ROWS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform(0.6, 0.2), "low <= high"),
        (lambda: Constant(1.5), r"in \[0, 1\]"),
        (lambda: PowerLaw(-1), "alpha"),
        (lambda: Normal(deviation=0), "deviation"),
        (lambda: Zipf(0), "count"),
        (lambda: Zipf(3, order="falling"), "order"),
        (lambda: Empirical((0.1, float("nan"))), "row 1"),
        (lambda: Mixture((Uniform(),), (1.0, 2.0)), "one per part"),
        (lambda: factor([[1.0, 2.0], [2.0, 1.0]], 2), "positive definite"),
        (lambda: factor([[1.0, 0.5]], 2), "2 rows"),
        (lambda: factor([[1.0, 0.5], [0.5]], 2), "got rows of 2, 1"),
    ],
)
def test_impossible_settings_are_refused_by_name(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
