"""Timestamps and dates as attributes: whole numbers of microseconds or days since 1970.

As for the other types (`sub2sub.geometry.attributes`) the mapping preserves order and is exact: microseconds
within ±2^53 cover the years 1684 to 2255. A moment without a time zone is read as UTC. A moment finer than a
microsecond, or outside these years, is refused, not rounded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.attributes import Valid, one_by_one, within
from sub2sub.geometry.boxes import EXACT, Floats

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = _EPOCH.date()


@dataclass(frozen=True)
class _Moment(ABC):
    """The common part of timestamps and dates: a whole number of units since 1970, from -most to most."""

    low: Any = None
    high: Any = None

    unit: ClassVar[str]  # as numpy calls it
    most: ClassVar[int]
    kind: ClassVar[type[date]]
    example: ClassVar[str]

    def __post_init__(self) -> None:
        ends = self.low, self.high
        places: list[Any] = [self._place(end) for end in ends if end is not None]
        if None in places or places != sorted(places):
            name = type(self).__name__
            raise InputError(f"{name}: expected low <= high, each {self.expected}, got {ends[0]}, {ends[1]}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared bounds, or the first and last exact moment."""
        low, high = self._place(self.low), self._place(self.high)
        return -float(self.most) if low is None else low, float(self.most) if high is None else high

    @property
    def expected(self) -> str:
        """An example, and the bounds if there are any."""
        bounded = self.low is not None or self.high is not None
        bounds = f", from {self.low or 'the first'} to {self.high or 'the last'}" if bounded else ""
        return self.example + bounds

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """Units since 1970."""
        if values.dtype.kind == "M":
            return within(self.bounds, named, *self._of_numpy(values))
        found, valid = one_by_one(values, self._place)
        return within(self.bounds, named, np.where(valid, found, 0.0), valid)

    def _of_numpy(self, values: NDArray[Any]) -> tuple[Floats, Valid]:
        """Units since 1970 of numpy's moments; NaT and moments that would be rounded are invalid."""
        whole = values.astype(f"datetime64[{self.unit}]")
        number = whole.astype(np.int64)
        valid = ~np.isnat(values) & (whole == values) & (number >= -self.most) & (number <= self.most)
        return np.where(valid, number, 0).astype(np.float64), valid

    def _place(self, value: Any) -> float | None:
        """Units since 1970; None for a value that is not a moment, or would be rounded."""
        if isinstance(value, np.datetime64):
            found, valid = self._of_numpy(np.array([value]))
            return float(found[0]) if valid[0] else None
        try:
            return self._since(self.kind.fromisoformat(value) if isinstance(value, str) else value)
        except ValueError:
            return None

    @abstractmethod
    def _since(self, moment: Any) -> float | None:
        """Units since 1970 of a Python object; None if it is not a moment, or would be rounded."""


@dataclass(frozen=True)
class Timestamp(_Moment):
    """A moment, by default any from 1684 to 2255.

    Parameters
    ----------
    low, high : datetime, numpy.datetime64 or str in ISO 8601, optional
        Bounds, as in `Float`.

    Examples
    --------
    >>> Timestamp().coordinates(np.array(["1970-01-01T00:00:01Z"]), named=True)[0]
    array([1000000.])
    """

    unit, most, kind = "us", EXACT, datetime
    example = "a moment such as 2026-11-17T09:30:00Z, in whole microseconds"

    def _since(self, moment: Any) -> float | None:
        finer: Any = getattr(moment, "nanosecond", 0)  # of pandas' moments; of its NaT, a datetime, it is NaN
        if not isinstance(moment, datetime) or finer != 0:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        since = (moment - _EPOCH) // timedelta(microseconds=1)
        return float(since) if abs(since) <= EXACT else None


@dataclass(frozen=True)
class Date(_Moment):
    """A day.

    Parameters
    ----------
    low, high : date, numpy.datetime64 or str in ISO 8601, optional
        Bounds, as in `Float`.

    Examples
    --------
    >>> Date().coordinates(np.array(["1970-02-01", "1970-02-30"]), named=True)
    (array([31.,  0.]), array([ True, False]))
    """

    unit, most, kind = "D", 3 * 10**6, date  # covers the years 1 to 9999
    example = "a day such as 2026-11-17"

    def _since(self, day: Any) -> float | None:
        is_day = isinstance(day, date) and not isinstance(day, datetime)
        return float((day - _DAY).days) if is_day else None
