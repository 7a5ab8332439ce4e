"""Moments as attributes: timestamps and dates, each a whole number of microseconds or days since 1970.

As for the other types (`sub2sub.geometry.attributes`) the map to the axis is order-preserving and exact:
microseconds within ±2^53 reach from 1684 to 2255. A moment without a time zone is read as UTC; one that is
finer than a microsecond, or outside those years, is refused rather than rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.attributes import Int, Valid
from sub2sub.geometry.boxes import EXACT, Floats

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = _EPOCH.date()
_DAYS = Int(-(10**6), 3 * 10**6)  # more than the years 1 to 9999


@dataclass(frozen=True)
class Timestamp:
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

    low: Any = None
    high: Any = None

    def __post_init__(self) -> None:
        _check(self, _microseconds)

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared bounds, or all that is exact."""
        return _bounds(self, _microseconds, float(EXACT))

    @property
    def expected(self) -> str:
        """A moment."""
        return f"a moment such as 2026-11-17T09:30:00Z, in whole microseconds{_within(self)}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """Microseconds since 1970."""
        if values.dtype.kind == "M":
            return _of_numpy(values, "us", EXACT, self.bounds, named)
        return _of_objects(values, _microseconds, self.bounds, named)


@dataclass(frozen=True)
class Date:
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

    low: Any = None
    high: Any = None

    def __post_init__(self) -> None:
        _check(self, _days)

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared bounds, or more than all years that a `date` has."""
        return _bounds(self, _days, float(_DAYS.high))

    @property
    def expected(self) -> str:
        """A day."""
        return f"a day such as 2026-11-17{_within(self)}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """Days since 1970."""
        if values.dtype.kind == "M":
            return _of_numpy(values, "D", _DAYS.high, self.bounds, named)
        return _of_objects(values, _days, self.bounds, named)


def _check(moment: Timestamp | Date, place: Any) -> None:
    name, ends = type(moment).__name__, (moment.low, moment.high)
    places = [place(end) for end in ends if end is not None]
    if None in places or places != sorted(places):
        raise InputError(f"{name}: expected low <= high, each {moment.expected}, got {ends[0]}, {ends[1]}")


def _bounds(moment: Timestamp | Date, place: Any, most: float) -> tuple[float, float]:
    low, high = moment.low, moment.high
    return -most if low is None else place(low), most if high is None else place(high)


def _within(moment: Timestamp | Date) -> str:
    bounded = moment.low is not None or moment.high is not None
    return f", from {moment.low or 'the first'} to {moment.high or 'the last'}" if bounded else ""


def _of_numpy(
    values: NDArray[Any], unit: str, most: int, bounds: tuple[float, float], named: bool
) -> tuple[Floats, Valid]:
    """Coordinates of numpy's moments, whatever unit they are in; NaT and what would be rounded have none."""
    whole = values.astype(f"datetime64[{unit}]")
    number = whole.astype(np.int64)
    valid = ~np.isnat(values) & (whole == values) & (number >= -most) & (number <= most)
    found = np.where(valid, number, 0).astype(np.float64)
    return found, valid if named else valid & (bounds[0] <= found) & (found <= bounds[1])


def _of_objects(
    values: NDArray[Any], place: Any, bounds: tuple[float, float], named: bool
) -> tuple[Floats, Valid]:
    found, valid = np.zeros(len(values)), np.zeros(len(values), bool)
    seen: dict[Any, float | None] = {}
    for row, value in enumerate(values.tolist()):
        if not isinstance(value, str | date | np.datetime64):
            continue
        if value not in seen:
            seen[value] = place(value)
        coordinate = seen[value]
        if coordinate is not None:
            found[row], valid[row] = coordinate, True
    return found, valid if named else valid & (bounds[0] <= found) & (found <= bounds[1])


def _microseconds(value: Any) -> float | None:
    """Microseconds since 1970; None for a value that is not a moment, or is not exact in microseconds."""
    if isinstance(value, np.datetime64):
        found, valid = _of_numpy(np.array([value]), "us", EXACT, (-np.inf, np.inf), True)
        return float(found[0]) if valid[0] else None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    finer: Any = getattr(moment, "nanosecond", 0)  # pandas' moments may be, and its NaT is a datetime too
    if not isinstance(moment, datetime) or finer != 0:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = (moment - _EPOCH) // timedelta(microseconds=1)
    return float(since) if abs(since) <= EXACT else None


def _days(value: Any) -> float | None:
    """Days since 1970; None for a value that is not a day."""
    if isinstance(value, np.datetime64):
        found, valid = _of_numpy(np.array([value]), "D", _DAYS.high, (-np.inf, np.inf), True)
        return float(found[0]) if valid[0] else None
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if not isinstance(day, date) or isinstance(day, datetime):
        return None
    return float((day - _DAY).days)
