"""Distributions of interest and of width, on the unit interval.

A distribution maps one uniform number to one value: `values(u)`. Where it is continuous that is its
quantile function, tabulated (see `workloads.spec.quantiles`). Attributes scale the values to their own axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Protocol, runtime_checkable

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers
from workloads.generate.rows import uniforms
from workloads.spec.quantiles import interpolate, tabulate

_GRID = 2.0**40  # shares are rounded to multiples of 1/_GRID, which all maths libraries agree on


@runtime_checkable
class Distribution(Protocol):
    """Maps each uniform number of [0, 1) to a value of [0, 1]."""

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""


def _require(holds: bool, field: str, got: object, expected: str) -> None:
    if not holds:
        raise InputError(f"{field} = {got!r}: expected {expected}")


@dataclass(frozen=True)
class Constant:
    """Always the same value; as a width, 0 makes every predicate an exact value.

    Attributes
    ----------
    value : float
        From 0 to 1.

    Examples
    --------
    >>> Constant(0.5).values(np.array([0.1, 0.9])).tolist()
    [0.5, 0.5]
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        _require(0 <= self.value <= 1, "constant value", self.value, "a number in [0, 1]")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        return np.full_like(u, self.value)


@dataclass(frozen=True)
class Uniform:
    """Uniform on [low, high].

    Attributes
    ----------
    low, high : float
        The ends, from 0 to 1.

    Examples
    --------
    >>> Uniform(0.5, 1.0).values(np.array([0.0, 0.5])).tolist()
    [0.5, 0.75]
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        ends = self.low, self.high
        _require(0 <= self.low <= self.high <= 1, "uniform (low, high)", ends, "0 <= low <= high <= 1")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        return self.low + (self.high - self.low) * u


@dataclass(frozen=True)
class PowerLaw:
    """Density highest at `centre`, falling to 0 at both ends as (1 - distance / reach)^alpha.

    `reach` is the distance from the centre to the end of [0, 1] on that side. As a width distribution,
    centred at 0, the density is proportional to (1 - w)^alpha; as interest, centred at 1/2, to
    (1 - 2 |x - 1/2|)^alpha.

    Attributes
    ----------
    alpha : float
        How fast the density falls; with 0 it is constant.
    centre : float
        Where the density is highest, from 0 to 1.

    Examples
    --------
    >>> PowerLaw(alpha=1, centre=0.5).values(np.array([0.0, 0.125, 0.5, 0.875])).round(9).tolist()
    [0.0, 0.25, 0.5, 0.75]
    """

    alpha: float
    centre: float = 0.0

    def __post_init__(self) -> None:
        _require(self.alpha >= 0, "power law alpha", self.alpha, "a number of at least 0")
        _require(0 <= self.centre <= 1, "power law centre", self.centre, "a number in [0, 1]")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        return interpolate(_power_law_table(self.alpha, self.centre), u)


@cache
def _power_law_table(alpha: float, centre: float) -> Floats:
    root = 1.0 / (alpha + 1.0)

    def quantile(u: float) -> float:
        if u < centre:
            return float(centre * (u / centre) ** root)
        return float(1.0 - (1.0 - centre) * ((1.0 - u) / (1.0 - centre)) ** root) if centre < 1 else 1.0

    return tabulate(quantile)


@dataclass(frozen=True)
class Normal:
    """Normal with the given mean and standard deviation, conditioned on [0, 1] (not clipped at the ends).

    Attributes
    ----------
    mean : float
        From 0 to 1.
    deviation : float
        Above 0.

    Examples
    --------
    >>> Normal(0.5, 0.1).values(np.array([0.5, 0.8413447460685429])).round(5).tolist()
    [0.5, 0.6]
    """

    mean: float = 0.5
    deviation: float = 0.15

    def __post_init__(self) -> None:
        _require(0 <= self.mean <= 1, "normal mean", self.mean, "a number in [0, 1]")
        _require(self.deviation > 0, "normal deviation", self.deviation, "a number above 0")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        return interpolate(_normal_table(self.mean, self.deviation), u)


@cache
def _normal_table(mean: float, deviation: float) -> Floats:
    normal = NormalDist(mean, deviation)
    below, mass = normal.cdf(0.0), normal.cdf(1.0) - normal.cdf(0.0)

    def quantile(u: float) -> float:
        p = below + mass * u
        if not 0.0 < p < 1.0:
            return 0.0 if p <= 0.0 else 1.0
        return min(1.0, max(0.0, normal.inv_cdf(p)))

    return tabulate(quantile)


def _thresholds(weights: Sequence[float] | Floats) -> Floats:
    """Upper end, in [0, 1], of each item's share."""
    total: Floats = np.cumsum(np.asarray(weights, np.float64))
    upper: Floats = np.rint(total / total[-1] * _GRID) / _GRID
    return upper


def _share_of(upper: Floats, u: Floats) -> tuple[Integers, Floats]:
    """The item whose share contains each u, and the position of u in that share, from 0 to 1."""
    item = np.minimum(np.searchsorted(upper, u, side="right"), len(upper) - 1)
    lower = np.where(item > 0, upper[item - 1], 0.0)
    return item, (u - lower) / (upper[item] - lower)


@dataclass(frozen=True)
class Zipf:
    """`count` distinct values of which the r-th most popular has a share proportional to r^-exponent.

    Parameters
    ----------
    count : int
        Number of distinct values; they are the midpoints of `count` equal parts of [0, 1].
    exponent : float
        0 for equal shares; 1 is Zipf's original law.
    order : {"shuffled", "rising", "centre"}
        Positions of popular values: random (the same for every seed), from the left end on, or from the
        middle outwards.
    spread : bool
        Draw a uniform value from the part instead of its midpoint.

    Examples
    --------
    >>> Zipf(4, order="rising").values(np.array([0.0, 0.47, 0.49, 0.99])).tolist()
    [0.125, 0.125, 0.375, 0.875]
    """

    count: int
    exponent: float = 1.0
    order: str = "shuffled"
    spread: bool = False

    def __post_init__(self) -> None:
        _require(self.count >= 1, "zipf count", self.count, "at least 1")
        _require(self.exponent >= 0, "zipf exponent", self.exponent, "a number of at least 0")
        known = self.order in ("shuffled", "rising", "centre")
        _require(known, "zipf order", self.order, "shuffled, rising or centre")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        upper, cells = _zipf_table(self.count, self.exponent, self.order)
        rank, within = _share_of(upper, u)
        values: Floats = (cells[rank] + (within if self.spread else 0.5)) / self.count
        return values


@cache
def _zipf_table(count: int, exponent: float, order: str) -> tuple[Floats, Integers]:
    cells = np.arange(count)
    if order == "shuffled":
        cells = np.argsort(uniforms(0, "zipf order", 0, count), kind="stable")
    elif order == "centre":
        cells = np.argsort(np.abs(2 * cells - (count - 1)), kind="stable")
    return _thresholds([rank**-exponent for rank in range(1, count + 1)]), cells


@dataclass(frozen=True)
class Empirical:
    """Observed values, drawn in proportion to their weights.

    Attributes
    ----------
    seen : tuple of float
        The values, from 0 to 1.
    weights : tuple of float, optional
        One per value; all equal if not given.

    Examples
    --------
    >>> Empirical((0.2, 0.4, 0.4, 0.9)).values(np.array([0.1, 0.3, 0.6, 0.8])).tolist()
    [0.2, 0.4, 0.4, 0.9]
    """

    seen: tuple[float, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        _require(len(self.seen) > 0, "empirical values", self.seen, "at least one value")
        for row, value in enumerate(self.seen):
            _require(0 <= value <= 1, f"empirical values, row {row}", value, "a number in [0, 1]")
        if self.weights is not None:
            count = len(self.weights)
            _require(count == len(self.seen), "empirical weights", count, "one per value")
            for row, weight in enumerate(self.weights):
                _require(0 < weight < np.inf, f"empirical weights, row {row}", weight, "a number above 0")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        seen = np.asarray(self.seen)
        order = np.argsort(seen, kind="stable")
        upper = _thresholds(np.ones(len(seen)) if self.weights is None else np.asarray(self.weights)[order])
        rank, _ = _share_of(upper, u)
        return seen[order][rank]


@dataclass(frozen=True)
class Mixture:
    """Several distributions, each with a share: hot spots, or exact values among ranges.

    Attributes
    ----------
    parts : tuple of Distribution
        The distributions.
    weights : tuple of float
        Their shares; need not add up to 1.

    Examples
    --------
    >>> spots = Mixture((Normal(0.2, 0.02), Normal(0.7, 0.05), Uniform()), (5, 3, 2))
    >>> spots.values(np.array([0.25, 0.65, 0.9])).round(3).tolist()
    [0.2, 0.7, 0.5]
    """

    parts: tuple[Distribution, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        _require(len(self.parts) > 0, "mixture parts", self.parts, "at least one")
        _require(len(self.weights) == len(self.parts), "mixture weights", self.weights, "one per part")
        for row, weight in enumerate(self.weights):
            _require(0 < weight < np.inf, f"mixture weights, row {row}", weight, "a number above 0")

    def values(self, u: Floats) -> Floats:
        """The value under each uniform number."""
        part, within = _share_of(_thresholds(self.weights), u)
        out = np.empty_like(u)
        for index, distribution in enumerate(self.parts):
            # Within its share u is uniform again, with at least 40 random bits.
            out[part == index] = distribution.values(within[part == index])
        return out
