"""Types of attributes, each mapped to an axis in its own order (Sub-2-Sub, Section 2).

The paper wants values that "can be directly mapped to R". A map here is order-preserving and exact: for any
value of an event and any two ends a subscription may name, comparing coordinates gives what comparing the
values gives. So the mapping loses no event and delivers none that is not wanted, and no filter is needed
behind it.

- `Float`, `Int`, `Bool`: the number itself. An integer beyond ±2^53 shares its float with a neighbour and
  is refused.
- `Enum`: the place of the value in the declared order. Other values are refused.
- `String`: in the order of code points, which is Python's. No number line holds all strings, so those
  that *subscriptions* name are limited, to a declared vocabulary or to strings of at most six bytes (UTF-8).
  *Events* may carry any string: one that no subscription can name gets a coordinate strictly between its
  two nearest that can. Strings with nothing nameable between them share it; no predicate tells them apart.

An axis is a line even where values are not: the overlay also looks after points between two integers, which
no event will have. That can cost a peer a link it does not need, never a match.
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
    """What `AttributeSpace` asks of an attribute's type."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The first and last coordinate: what a wildcard covers."""

    @property
    def expected(self) -> str:
        """What a value has to be, for error messages."""

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """Coordinates of values, and which values have one.

        `named` values are those of subscriptions (exact ones and ends of ranges), the others are events'.
        """


@dataclass(frozen=True)
class Float:
    """A real number, by default without bounds.

    With bounds, a wildcard ends at them, ranges are cut off at them, and events beyond them are refused.

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
    def bounds(self) -> tuple[float, float]:
        """The declared bounds."""
        return float(self.low), float(self.high)

    @property
    def expected(self) -> str:
        """A finite number within the bounds, if there are any; a Python integer only if it has a float."""
        within = "" if self == Float() else f" from {self.low} to {self.high}"
        return f"a finite number{within} (integers within ±2^53)"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The numbers themselves; beyond the bounds an event's is refused, a range's is cut off later."""
        found, valid = _numbers(values)
        return found, valid if named else valid & (self.low <= found) & (found <= self.high)


@dataclass(frozen=True)
class Int:
    """An integer, by default within ±2^53; bounds as in `Float`.

    Examples
    --------
    >>> Int(0, 120).bounds
    (0.0, 120.0)
    """

    low: int = -EXACT
    high: int = EXACT

    def __post_init__(self) -> None:
        if not -EXACT <= self.low <= self.high <= EXACT:
            raise InputError(f"Int: expected low <= high within ±2^53, got {self.low}, {self.high}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared bounds."""
        return float(self.low), float(self.high)

    @property
    def expected(self) -> str:
        """An integer with a float of its own."""
        return "an integer within ±2^53" if self == Int() else f"an integer from {self.low} to {self.high}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The numbers themselves; a float counts if it is whole, as integers come out of many tables."""
        found, valid = _numbers(values)
        valid &= (np.floor(found) == found) & (np.abs(found) <= EXACT)
        return found, valid if named else valid & (self.low <= found) & (found <= self.high)


@dataclass(frozen=True)
class Bool:
    """False below True.

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
        """A truth value, not a number."""
        return "True or False"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """0 for False, 1 for True."""
        if values.dtype == bool:
            return values.astype(np.float64), np.ones(len(values), bool)
        return _each(values, lambda value: float(value) if isinstance(value, bool | np.bool_) else None)


class Enum:
    """One of some values, in the order in which they are given.

    Parameters
    ----------
    values : iterable of hashable
        At least one, all different, no tuples or lists (a pair is a range). An `enum.Enum` class will do.

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
        """The places of the values in the declared order."""
        return _each(values, self._places.get)


class String:
    """A string, in the order of code points.

    Parameters
    ----------
    vocabulary : iterable of str, optional
        The strings that subscriptions may name. Without it: those of at most six bytes.

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

    @property
    def bounds(self) -> tuple[float, float]:
        """From before the first nameable string to after the last."""
        return 0.0, float(2 * 257**SHORT - 1 if self.vocabulary is None else 2 * len(self.vocabulary))

    @property
    def expected(self) -> str:
        """A string that subscriptions may name."""
        if self.vocabulary is None:
            return (
                f"a string, in subscriptions of at most {SHORT} bytes (declare a vocabulary for longer ones)"
            )
        return f"a string, in subscriptions one of the vocabulary of {len(self.vocabulary)}"

    def coordinates(self, values: NDArray[Any], named: bool) -> tuple[Floats, Valid]:
        """The places of the strings among those that can be named."""
        known = self.vocabulary

        def place(value: Any) -> float | None:
            if not isinstance(value, str):
                return None
            coordinate, exact = _short_place(value) if known is None else _place(known, value)
            return coordinate if exact or not named else None

        return _each(values, place)


def _place(vocabulary: Sequence[str], text: str) -> tuple[float, bool]:
    """2i + 1 for the i-th of a sorted vocabulary, the even numbers for what lies between."""
    i = bisect_left(vocabulary, text)
    exact = i < len(vocabulary) and vocabulary[i] == text
    return float(2 * i + exact), exact


def _short_place(text: str) -> tuple[float, bool]:
    """Six digits to the base 257, 0 for "no byte", then one bit for "and more".

    UTF-8 sorts as the code points do.
    """
    data = text.encode("utf-8", "surrogatepass")
    place = 0
    for i in range(SHORT):
        place = place * 257 + (data[i] + 1 if i < len(data) else 0)
    more = len(data) > SHORT
    return float(2 * place + more), not more


def _each(values: NDArray[Any], place: Callable[[Any], float | None]) -> tuple[Floats, Valid]:
    """Coordinates value by value, for types that are no numbers; repeated values are looked up once."""
    seen: dict[Any, float | None] = {}
    found = np.full(len(values), np.nan)
    for row, value in enumerate(values.tolist()):
        key = type(value), value  # True == 1, yet only one of them is a Bool
        try:
            coordinate = seen[key] if key in seen else seen.setdefault(key, place(value))
        except TypeError:  # not hashable, so of no type known here
            coordinate = None
        if coordinate is not None:
            found[row] = coordinate
    return found, ~np.isnan(found)


def _numbers(values: NDArray[Any]) -> tuple[Floats, Valid]:
    """Numbers as floats; not valid: what is no number, NaN, an infinity or an integer beyond ±2^53."""
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
