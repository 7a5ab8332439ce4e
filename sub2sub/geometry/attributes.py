"""Types of attributes, and how their values become coordinates on an axis (Sub-2-Sub, Section 2).

The paper requires values that "can be directly mapped to R". The mapping here preserves order and is exact:
comparing the coordinates of an event's value with those of a range's ends gives the same result as comparing
the values. So no match is lost, no event is delivered wrongly, and no further filter is needed.

- `Float`, `Int`, `Bool`: the number itself. Integers beyond ±2^53 are refused, because two of them may have
  the same float.
- `Enum`: the position of the value in the declared order. Other values are refused.
- `String`: in the order of code points, as in Python. Floats cannot represent all strings. The strings in
  *subscriptions* are therefore limited to a declared vocabulary, or to six bytes (UTF-8). *Events* may have
  any string: one that no subscription can contain gets a coordinate strictly between its two neighbours that
  subscriptions can contain. Strings between the same two neighbours share a coordinate, because no
  subscription can distinguish them.

An axis is continuous even where values are not: the overlay also maintains rings for points between two
integers, which no event has. This may cost a peer an unnecessary link, but never a match.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import EXACT, LARGEST, Floats

SHORT = 6  # bytes: 2 * 257^6 < 2^53 < 2 * 257^7
Valid = NDArray[np.bool_]


class Attribute(Protocol):
    """The interface of attribute types, which `AttributeSpace` uses."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and last coordinate: the range of a wildcard."""

    @property
    def expected(self) -> str:
        """A description of valid values, for error messages."""

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The coordinates of values, and which values are valid.

        `named` is true for values of subscriptions (exact values and ends of ranges), false for those of
        events.
        """


@dataclass(frozen=True)
class _Number:
    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared bounds."""
        return float(self.low), float(self.high)


@dataclass(frozen=True)
class Float(_Number):
    """A real number, by default without bounds.

    A wildcard covers the values between the bounds, ranges are cut off at them, and events beyond them are
    refused.

    Examples
    --------
    >>> Float(0.0, 1.0).bounds
    (0.0, 1.0)
    """

    low: float = -LARGEST
    high: float = LARGEST

    def __post_init__(self) -> None:
        if not self.low <= self.high or np.isinf(self.low) or np.isinf(self.high):
            raise InputError(f"Float: expected finite low <= high, got {self.low}, {self.high}")

    @property
    def expected(self) -> str:
        """A finite number within the bounds, if there are any; integers must have an exact float."""
        within = "" if self == Float() else f" from {self.low} to {self.high}"
        return f"a finite number{within} (integers within ±2^53)"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The numbers themselves."""
        return within(self.bounds, named, *_numbers(values))


@dataclass(frozen=True)
class Int(_Number):
    """An integer, by default within ±2^53; bounds as in `Float`.

    Examples
    --------
    >>> Int(0, 120).bounds
    (0.0, 120.0)
    """

    low: int = -EXACT
    high: int = EXACT

    def __post_init__(self) -> None:
        whole = self.low == np.floor(self.low) and self.high == np.floor(self.high)
        if not (whole and -EXACT <= self.low <= self.high <= EXACT):
            raise InputError(f"Int: expected integers low <= high within ±2^53, got {self.low}, {self.high}")

    @property
    def expected(self) -> str:
        """An integer that has an exact float."""
        return "an integer within ±2^53" if self == Int() else f"an integer from {self.low} to {self.high}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The numbers themselves; whole floats are accepted, because many tables store integers as floats."""
        found, valid = _numbers(values)
        valid &= (np.floor(found) == found) & (np.abs(found) <= EXACT)
        return within(self.bounds, named, found, valid)


@dataclass(frozen=True)
class Bool:
    """False or True; False comes first.

    Examples
    --------
    >>> Bool().coordinates(np.array([True, False]), named=True)[0]
    array([1., 0.])
    """

    @property
    def bounds(self) -> tuple[float, float]:
        """False and True."""
        return 0.0, 1.0

    @property
    def expected(self) -> str:
        """True or False; numbers are refused."""
        return "True or False"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """0 for False, 1 for True."""
        if values.dtype == bool:
            return values.astype(np.float64), np.ones(len(values), bool)
        return one_by_one(values, lambda value: float(value) if isinstance(value, bool | np.bool_) else None)


class Enum:
    """One of the given values, in the given order.

    Parameters
    ----------
    values : iterable of hashable
        At least one, all different, no tuples or lists (a pair is a range). May be an `enum.Enum` class.

    Examples
    --------
    >>> Enum(["low", "middle", "high"]).coordinates(np.array(["high", "low"]), named=True)[0]
    array([2., 0.])
    """

    def __init__(self, values: Iterable[Hashable]) -> None:
        self.values = tuple(values)
        self._places = {value: float(place) for place, value in enumerate(self.values)}
        if not self.values or len(self._places) < len(self.values):
            raise InputError(f"Enum: expected at least one value and no two equal, got {list(self.values)}")
        if any(value is None or isinstance(value, tuple) for value in self.values):
            raise InputError("Enum: expected values other than None (a wildcard) and tuples (ranges)")

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and the last value."""
        return 0.0, float(len(self.values) - 1)

    @property
    def expected(self) -> str:
        """One of the values."""
        return f"one of {', '.join(repr(value) for value in self.values)}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The positions of the values in the declared order."""
        return one_by_one(values, self._places.get)


class String:
    """A string, in the order of code points.

    Parameters
    ----------
    vocabulary : iterable of str, optional
        The strings that subscriptions may contain; by default all strings of at most six bytes.

    Examples
    --------
    >>> events = np.array(["ape", "bear", "cat", "dog"])
    >>> String(["ape", "cat"]).coordinates(events, named=False)[0]
    array([1., 2., 3., 4.])
    """

    def __init__(self, vocabulary: Iterable[str] | None = None) -> None:
        if isinstance(vocabulary, str):
            raise InputError(f"String: expected a vocabulary of several strings, got {vocabulary!r}")
        strings = None if vocabulary is None else set(vocabulary)
        if strings and not all(isinstance(string, str) for string in strings):
            raise InputError("String: expected a vocabulary of strings only")
        self.vocabulary = None if strings is None else sorted(strings)

    def __repr__(self) -> str:
        return "String()" if self.vocabulary is None else f"<String of {len(self.vocabulary)} words>"

    @property
    def bounds(self) -> tuple[float, float]:
        """From below the first string that subscriptions may contain to above the last."""
        return 0.0, float(2 * 257**SHORT - 1 if self.vocabulary is None else 2 * len(self.vocabulary))

    @property
    def expected(self) -> str:
        """A string; in subscriptions, one that they may contain."""
        if self.vocabulary is None:
            return (
                f"a string, in subscriptions of at most {SHORT} bytes (declare a vocabulary for longer ones)"
            )
        return f"a string, in subscriptions one of the vocabulary of {len(self.vocabulary)}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The positions of the strings among those that subscriptions may contain."""
        known = self.vocabulary

        def place(value: Any) -> float | None:
            if not isinstance(value, str):
                return None
            coordinate, exact = _short_place(value) if known is None else _place(known, value)
            return coordinate if exact or not named else None

        return one_by_one(values, place)


def within(bounds: tuple[float, float], named: bool, found: Floats, valid: Valid) -> tuple[Floats, Valid]:
    """Mark coordinates of events beyond the bounds as invalid; ranges are cut off at the bounds later."""
    return found, valid if named else valid & (bounds[0] <= found) & (found <= bounds[1])


def _place(vocabulary: Sequence[str], text: str) -> tuple[float, bool]:
    """2i + 1 for the i-th string of a sorted vocabulary, an even number for a string between two of them."""
    i = bisect_left(vocabulary, text)
    exact = i < len(vocabulary) and vocabulary[i] == text
    return float(2 * i + exact), exact


def _short_place(text: str) -> tuple[float, bool]:
    """Six digits in base 257 (0 stands for "no byte"), followed by one bit: are there more bytes?

    UTF-8 sorts in the same order as code points.
    """
    data = text.encode("utf-8", "surrogatepass")
    place = 0
    for i in range(SHORT):
        place = place * 257 + (data[i] + 1 if i < len(data) else 0)
    more = len(data) > SHORT
    return float(2 * place + more), not more


def one_by_one(values: NDArray[Any], place: Callable[[Any], float | None]) -> tuple[Floats, Valid]:
    """Coordinates of values that are not numbers, one by one; repeated values are looked up once."""
    seen: dict[Any, float | None] = {}
    found = np.full(len(values), np.nan)
    for row, value in enumerate(values.tolist()):
        key = type(value), value  # True == 1, but only True is a Bool
        try:
            coordinate = seen[key] if key in seen else seen.setdefault(key, place(value))
        except TypeError:  # not hashable, so not a valid value
            coordinate = None
        if coordinate is not None:
            found[row] = coordinate
    return found, ~np.isnan(found)


def _numbers(values: NDArray[Any]) -> tuple[Floats, Valid]:
    """Numbers as floats. Other values, NaN, infinities and integers beyond ±2^53 are invalid."""
    if values.dtype.kind in "iu":
        return values.astype(np.float64), (values <= EXACT) & (values >= -EXACT)
    if values.dtype.kind == "f":
        found = values.astype(np.float64)
        return found, np.isfinite(found)
    found = np.zeros(len(values))
    valid = np.zeros(len(values), bool)
    for row, value in enumerate(values.tolist()):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if (whole and abs(value) <= EXACT) or isinstance(value, float | np.floating):
            found[row] = value
            valid[row] = np.isfinite(value)
    return found, valid
