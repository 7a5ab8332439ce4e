"""The attribute space: named, typed attributes; each is an axis (Sub-2-Sub, Section 2).

A subscription has at most one predicate per attribute: an exact value or a closed range. An attribute without
a predicate is a wildcard. An event has a value for every attribute. The space converts tables of
subscriptions and events into arrays of closed ranges and points, which `match`, `true_rings`, `select_ring`
and `minimal_regions` take. Wildcards and open ends become the finite bounds of the attribute, because
infinite bounds would turn volumes and midpoints into NaN.

A subscriber that wants several values or ranges of one attribute has several subscriptions, each a virtual
peer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.attributes import Attribute, Bool, Enum, Float, Int, String
from sub2sub.geometry.boxes import MAX_ATTRIBUTES, Floats
from sub2sub.geometry.columns import ends_by_attribute, values_by_attribute
from sub2sub.geometry.moments import Date, Timestamp

_SHORTHAND: dict[Any, type[Attribute]] = {
    float: Float, int: Int, bool: Bool, str: String, datetime: Timestamp, date: Date,
}  # fmt: skip
_BY_KIND: dict[str, type[Attribute]] = {
    "f": Float,
    "i": Int,
    "u": Int,
    "b": Bool,
    "U": String,
    "M": Timestamp,
}


class Ranges(NamedTuple):
    """Closed ranges of n subscriptions: `lows` and `highs`, (n, d) float64, finite."""

    lows: Floats
    highs: Floats


class AttributeSpace:
    """1 to 16 named, typed attributes; converts subscriptions and events into arrays.

    Parameters
    ----------
    attributes : mapping of names to types
        A type is a `Float`, `Int`, `Bool`, `Enum`, `String`, `Timestamp` or `Date`; or, for short, one of
        `float`, `int`, `bool`, `str`, `datetime`, `date`, a NumPy type (`datetime64` are timestamps), or the
        list of values of an `Enum`. The order of the attributes is the order of the axes.

    Examples
    --------
    >>> space = AttributeSpace({"price": Float(0, 1000), "side": ["buy", "sell"], "symbol": str})
    >>> lows, highs = space.subscriptions([{"price": (10, 20), "symbol": "ACME"}, {"side": "sell"}])
    >>> lows[:, :2].tolist(), highs[:, :2].tolist()
    ([[10.0, 0.0], [0.0, 1.0]], [[20.0, 1.0], [1000.0, 1.0]])
    >>> event = space.events([{"price": 20, "side": "buy", "symbol": "ACME"}])
    >>> ((lows <= event) & (event <= highs)).all(axis=1)
    array([ True, False])
    """

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        if not isinstance(attributes, Mapping):
            raise InputError(
                f"attributes: expected a mapping of names to types, got {type(attributes).__name__}"
            )
        if not 1 <= len(attributes) <= MAX_ATTRIBUTES:
            raise InputError(f"attributes: expected 1 to {MAX_ATTRIBUTES}, got {len(attributes)}")
        self.attributes = {name: _attribute(name, given) for name, given in attributes.items()}
        for name in attributes:
            if {name + "_low", name + "_high"} & attributes.keys():
                raise InputError(
                    f"attribute {name!r}: expected no attribute named {name}_low or {name}_high beside it"
                )

    def __repr__(self) -> str:
        return f"AttributeSpace({self.attributes})"

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in the order of the axes."""
        return tuple(self.attributes)

    @property
    def bounds(self) -> Ranges:
        """The first and last coordinate of each axis, (d,) each: the ranges of wildcards."""
        ends = np.array([attribute.bounds for attribute in self.attributes.values()])
        return Ranges(ends[:, 0].copy(), ends[:, 1].copy())

    @property
    def axes(self) -> tuple[float, ...]:
        """The lengths of the axes, 1 for an attribute without bounds; for `OverlaySettings.axes`.

        Examples
        --------
        >>> AttributeSpace({"price": Float(0, 1000), "side": ["buy", "sell"], "weight": float}).axes
        (1000.0, 1.0, 1.0)
        """
        first, last = self.bounds
        with np.errstate(over="ignore"):
            lengths = last - first
        return tuple(np.where(np.isfinite(lengths) & (lengths > 0), lengths, 1.0).tolist())

    def subscriptions(self, rows: Any) -> Ranges:
        """Subscriptions as closed ranges.

        Parameters
        ----------
        rows : sequence of mappings, or a table
            A mapping has predicates by attribute: an exact value; a pair (low, high), in which None or an
            infinity is an open end; or None for a wildcard. A table (a mapping of arrays, a DataFrame, an
            Arrow table) has, for an attribute `a`, either a column `a` of exact values, or a column `a_low`,
            a column `a_high`, or both. None or an infinity is an open end; an attribute without a column is a
            wildcard.

        Raises
        ------
        InputError
            For a value of the wrong type, NaN, low > high, a range outside the attribute's bounds, or an
            unknown name; with the attribute and the row.

        Examples
        --------
        >>> space = AttributeSpace({"age": int, "member": bool})
        >>> space.subscriptions({"age_low": np.array([18, 65])}).lows
        array([[18.,  0.],
               [65.,  0.]])
        """
        ends = ends_by_attribute(rows, self.names, "subscriptions")
        pairs = [_range(name, attribute, *ends[name]) for name, attribute in self.attributes.items()]
        return Ranges(
            np.column_stack([low for low, _ in pairs]), np.column_stack([high for _, high in pairs])
        )

    def events(self, rows: Any) -> Floats:
        """Events as points, (m, d) float64.

        Parameters
        ----------
        rows : sequence of mappings, or a table
            A value for every attribute: mappings by attribute name, or one column per attribute.

        Raises
        ------
        InputError
            For a missing value, a value of the wrong type, NaN, a value outside the bounds, or an unknown
            name; with the attribute and the row.

        Examples
        --------
        >>> AttributeSpace({"age": int, "member": bool}).events([{"age": 30, "member": True}])
        array([[30.,  1.]])
        """
        values = values_by_attribute(rows, self.names, "events")
        return np.column_stack(
            [
                _coordinates("events", name, attribute, values[name])
                for name, attribute in self.attributes.items()
            ]
        )


def _attribute(name: Any, given: Any) -> Attribute:
    if not isinstance(name, str) or not name:
        raise InputError(f"attribute {name!r}: expected a name")
    if isinstance(given, Float | Int | Bool | Enum | String | Timestamp | Date):
        return given
    if isinstance(given, type) and given in _SHORTHAND:
        return _SHORTHAND[given]()
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        kind = np.dtype(given).kind
        if kind in _BY_KIND:
            return _BY_KIND[kind]()
    if isinstance(given, Iterable) and not isinstance(given, str):
        return Enum(given)
    raise InputError(
        f"attribute {name!r}: expected Float, Int, Bool, Enum, String, Timestamp or Date, got {given!r}"
    )


def _range(name: str, attribute: Attribute, lows: NDArray[Any], highs: NDArray[Any]) -> tuple[Floats, Floats]:
    """The closed ranges of all subscriptions on one attribute, cut off at its bounds."""
    first, last = attribute.bounds
    low = _coordinates("subscriptions", name, attribute, lows, open_end=-np.inf)
    high = _coordinates("subscriptions", name, attribute, highs, open_end=np.inf)
    for bad, expected in ((low > high, "low <= high"), ((low > last) | (high < first), attribute.expected)):
        if bad.any():
            row = int(np.argmax(bad))
            got = f"({lows[row]!r}, {highs[row]!r})"
            raise InputError(f"subscriptions row {row}, attribute {name!r}: expected {expected}, got {got}")
    return np.maximum(low, first), np.minimum(high, last)


def _coordinates(
    what: str, name: str, attribute: Attribute, values: NDArray[Any], open_end: float | None = None
) -> Floats:
    """Coordinates of values: of events, or, if `open_end` is given, of subscriptions.

    None, and a value equal to `open_end`, get the coordinate `open_end`.
    """
    given = np.ones(len(values), bool)
    if open_end is not None and values.dtype == object:
        given = np.array([not (v is None or (isinstance(v, float) and v == open_end)) for v in values], bool)
    elif open_end is not None and values.dtype.kind == "f":
        given = values != open_end
    coordinates = np.full(len(values), open_end or 0.0)
    coordinates[given], valid = attribute.coordinates(values[given], named=open_end is not None)
    if not valid.all():
        row = int(np.flatnonzero(given)[np.argmin(valid)])
        got = values[row : row + 1].tolist()[0]
        raise InputError(f"{what} row {row}, attribute {name!r}: expected {attribute.expected}, got {got!r}")
    return coordinates
