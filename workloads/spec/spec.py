"""Definition of a workload: attributes with distributions of interest and width, and the events.

After Section 5 of Sub-2-Sub: a subscription is one range per attribute; its centre follows the
attribute's interest distribution, its width the attribute's width distribution, and it is cut off at the
ends of the axis. Test events are random points with at least two matching subscribers.
Beyond the paper: wildcards, correlated interests, axes other than [0, 1], events that follow interest.

Every row is a pure function of (seed, row), see `workloads.generate.rows`. Test events are the first m of a
sequence of candidates that have enough matches, so they do not depend on how the work is split either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Floats
from workloads.generate.churn import Churn
from workloads.generate.rows import BLOCK, uniforms
from workloads.spec.distributions import Distribution, PowerLaw, Uniform
from workloads.spec.types import Kind, ValueType

_FIRST_BATCH = 4096  # candidates that are tried before the share with enough matches is known
_LEAST_ACCEPTANCE = 1e-5


@dataclass(frozen=True)
class Attribute:
    """One attribute of the space.

    Attributes
    ----------
    name : str
        Letters, digits and _; columns of tables are named after it.
    interest : Distribution
        Distribution of the centre of a range, on [0, 1]; scaled to the axis.
    width : Distribution
        Distribution of the width of a range as a share of the axis; `Constant(0)` for exact values.
    wildcard : float
        Probability that a subscription leaves the attribute open: its range is then the whole axis.
    low, high : float
        Ends of the axis; for a bool, an enum or a string they follow from the type.
    type : {"float", "int", "bool", "enum", "string", "timestamp", "date"}
        Type of the values. If it has finitely many values, each has an equal share of [0, 1].
    values : tuple of str
        The values of an enum, in order; the strings that subscriptions may name.

    Examples
    --------
    >>> Attribute("price", high=1000.0, wildcard=0.1).high
    1000.0
    >>> size = Attribute("size", type="enum", values=("S", "M", "L"))
    >>> size.kind.texts(size.scale(np.array([0.1, 0.5, 1.0])))
    ['S', 'M', 'L']
    """

    name: str
    interest: Distribution = field(default_factory=Uniform)
    width: Distribution = field(default_factory=lambda: PowerLaw(alpha=4))
    wildcard: float = 0.0
    low: float = 0.0
    high: float = 1.0
    type: Kind = "float"
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.wildcard <= 1:
            raise InputError(f"{self.name}.wildcard = {self.wildcard!r}: expected a probability in [0, 1]")
        kind = self.kind
        if kind.kind == "string" and not kind.values:
            raise InputError(f"{self.name}.values: expected the strings that subscriptions may name")
        if kind.ends is not None:
            if (self.low, self.high) not in ((0.0, 1.0), kind.ends):
                raise InputError(f"{self.name}: expected neither low nor high, as the type is {kind.kind}")
            for end, place in zip(("low", "high"), kind.ends, strict=True):
                object.__setattr__(self, end, place)
        elif not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InputError(f"{self.name}: expected finite low < high, got {self.low!r} and {self.high!r}")
        elif kind.is_whole and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise InputError(f"{self.name}: expected whole low and high, got {self.low!r} and {self.high!r}")

    @property
    def kind(self) -> ValueType:
        """The type of its values."""
        return ValueType(self.type, self.values)

    def scale(self, x: Floats) -> Floats:
        """Map [0, 1] to the axis; each of finitely many values has an equal share."""
        if self.type == "float":
            return x if (self.low, self.high) == (0.0, 1.0) else self.low + (self.high - self.low) * x
        found: Floats
        if self.type == "string":  # named strings have odd coordinates, others lie between them
            found = 2.0 * np.clip(np.floor(x * len(self.values)), 0, len(self.values) - 1) + 1.0
        else:
            found = np.clip(self.low + np.floor(x * (self.high - self.low + 1.0)), self.low, self.high)
        return found

    def share(self, coordinates: Floats) -> Floats:
        """Map the axis to [0, 1], the inverse of `scale`."""
        if self.type == "float":
            return (coordinates - self.low) / (self.high - self.low)
        if self.type == "string":
            return coordinates / (2.0 * len(self.values))
        return (coordinates - self.low + 0.5) / (self.high - self.low + 1.0)


@dataclass(frozen=True)
class Spec:
    """A workload: any number of subscriptions and events, each row a pure function of (seed, row).

    Attributes
    ----------
    name : str
        Name of the workload; by default the name of its file.
    attributes : tuple of Attribute
        The axes of the space.
    correlation : tuple of tuples of float, optional
        Correlation matrix of the attributes' interests (Gaussian copula); independent if not given.
    events_follow : {"uniform", "interest", "table"}
        Distribution of events: uniform, that of the centres of subscriptions, or rows of `event_table`.
    event_table : tuple of tuples of float, optional
        Points that events are drawn from, with equal probability.
    churn : Churn, optional
        Joins, leaves and changes of subscriptions; if not given, all subscribers stay throughout.

    Examples
    --------
    >>> spec = Spec("stocks", (Attribute("price", high=500.0), Attribute("volume")))
    >>> lows, highs = spec.subscriptions(1000, seed=1)
    >>> lows.shape, bool((lows <= highs).all())
    ((1000, 2), True)
    >>> spec.events(5, seed=1, lows=lows, highs=highs).shape
    (5, 2)
    """

    name: str
    attributes: tuple[Attribute, ...]
    correlation: tuple[tuple[float, ...], ...] | None = None
    events_follow: Literal["uniform", "interest", "table"] = "uniform"
    event_table: tuple[tuple[float, ...], ...] | None = None
    churn: Churn | None = None

    def __post_init__(self) -> None:
        if not self.attributes:
            raise InputError(f"workload {self.name!r}: expected at least one attribute")
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) < len(names):
            raise InputError(
                f"workload {self.name!r}: expected distinct attribute names, got {', '.join(names)}"
            )
        for name in names:
            if not name.isidentifier():  # columns of tables are named after it
                raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
        if self.events_follow not in ("uniform", "interest", "table"):
            raise InputError(f"events_follow = {self.events_follow!r}: expected uniform, interest or table")
        if (self.events_follow == "table") != bool(self.event_table):
            raise InputError("event_table: expected points exactly when events_follow is 'table'")
        for row, point in enumerate(self.event_table or ()):
            if len(point) != len(names) or not np.isfinite(point).all():
                raise InputError(
                    f"event_table, row {row}: expected {len(names)} finite numbers, got {point!r}"
                )
        if self.correlation is not None:
            from workloads.spec.copula import factor

            factor(self.correlation, len(self.attributes))  # refuses what is no correlation matrix

    @property
    def names(self) -> list[str]:
        """Names of the attributes, in order."""
        return [attribute.name for attribute in self.attributes]

    @property
    def types(self) -> dict[str, ValueType]:
        """The type of each attribute."""
        return {attribute.name: attribute.kind for attribute in self.attributes}

    def _uniforms(self, column: str, seed: int, start: int, stop: int) -> Floats:
        """Uniform numbers (rows, d); `column` names the column of an axis."""
        columns = [column.format(axis) for axis in range(len(self.attributes))]
        return np.stack([uniforms(seed, name, start, stop) for name in columns], axis=1)

    def _interest(self, kind: str, seed: int, start: int, stop: int) -> Floats:
        """Unit coordinates (rows, d) drawn from the interest distributions, with their correlation."""
        u = self._uniforms(f"{kind}/{{}}/interest", seed, start, stop)
        if self.correlation is not None:
            from workloads.spec.copula import correlate, factor

            u = correlate(u, factor(self.correlation, len(self.attributes)))
        for axis, attribute in enumerate(self.attributes):
            u[:, axis] = attribute.interest.values(u[:, axis])
        return u

    def rows(self, seed: int, start: int, stop: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""
        check_seed(seed)
        centres = self._interest("subscription", seed, start, stop)
        lows, highs = np.empty_like(centres), np.empty_like(centres)
        for axis, attribute in enumerate(self.attributes):
            column = f"subscription/{axis}"
            centre = centres[:, axis]
            half = 0.5 * attribute.width.values(uniforms(seed, f"{column}/width", start, stop))
            lows[:, axis] = attribute.scale(np.maximum(0.0, centre - half))
            highs[:, axis] = attribute.scale(np.minimum(1.0, centre + half))
            if attribute.wildcard > 0:
                open_ = uniforms(seed, f"{column}/wildcard", start, stop) < attribute.wildcard
                lows[open_, axis], highs[open_, axis] = attribute.low, attribute.high
        return lows, highs

    def subscriptions(self, n: int, seed: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs), each (n, d), of the first n subscriptions."""
        if n < 0:
            raise InputError(f"subscribers = {n}: expected a number of at least 0")
        return self.rows(seed, 0, n)

    def candidates(self, seed: int, start: int, stop: int) -> Floats:
        """The candidate events [start, stop), with or without matching subscribers."""
        check_seed(seed)
        if self.event_table is not None:
            pick = uniforms(seed, "event/table", start, stop)
            return np.array(self.event_table)[(pick * len(self.event_table)).astype(np.int64)]
        if self.events_follow == "interest":
            points = self._interest("event", seed, start, stop)
        else:
            points = self._uniforms("event/{}", seed, start, stop)
        for axis, attribute in enumerate(self.attributes):
            points[:, axis] = attribute.scale(points[:, axis])
        return points

    def events(self, m: int, seed: int, lows: Floats, highs: Floats, at_least: int = 2) -> Floats:
        """The first m candidate events with at least `at_least` matching subscribers each.

        An error is raised if almost no candidate has that many.
        """
        if m < 0:
            raise InputError(f"events = {m}: expected a number of at least 0")
        if at_least <= 0:
            return self.candidates(seed, 0, m)
        from workloads.match.bitmaps import count_matches

        found: list[Floats] = []
        count = tried = 0
        while count < m:
            # As many candidates as should give the missing events, within one block.
            batch = _FIRST_BATCH if not tried else max(_FIRST_BATCH, (m - count) * tried // max(1, count))
            points = self.candidates(seed, tried, min(tried + batch, (tried // BLOCK + 1) * BLOCK))
            accepted = points[count_matches(lows, highs, points, enough=at_least) >= at_least]
            found.append(accepted)
            tried, count = tried + len(points), count + len(accepted)
            refuse_sparse(count, tried, at_least, len(lows))
        return np.concatenate(found)[:m] if found else np.empty((0, len(self.attributes)))


def check_seed(seed: int) -> None:
    """Raise unless a seed fits into 64 bits."""
    if not 0 <= seed < 2**64:
        raise InputError(f"seed = {seed}: expected an integer in [0, 2^64)")


def refuse_sparse(accepted: int, tried: int, at_least: int, subscribers: int) -> None:
    """Raise if so few candidate events have enough matches that the search would take hours."""
    if tried >= 1 / _LEAST_ACCEPTANCE and accepted < _LEAST_ACCEPTANCE * tried:
        raise InputError(
            f"events: {accepted} of {tried} candidates match {at_least} or more of {subscribers} subscribers"
            ": expected a denser workload or a smaller at_least"
        )
