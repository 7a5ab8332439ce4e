"""Types of a workload's attributes: the library's types, by the names that specs and manifests use.

`sub2sub.geometry.attributes` and `moments` map values to coordinates; files and kernels hold coordinates
only. This module converts a coordinate back to the text of its value, for tables, figures and pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.attributes import Attribute, Bool, Enum, Float, Int, String
from sub2sub.geometry.moments import Date, Timestamp

Kind = Literal["float", "int", "bool", "enum", "string", "timestamp", "date"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ValueType:
    """The type of an attribute.

    Attributes
    ----------
    kind : str
        float, int, bool, enum, string, timestamp or date.
    values : tuple of str
        The values of an enum, in order; the strings that subscriptions name.

    Examples
    --------
    >>> size = ValueType("enum", ("S", "M", "L"))
    >>> size.text(2.0), ValueType("date").text(31.0), ValueType("timestamp").text(1e6)
    ('L', '1970-02-01', '1970-01-01T00:00:01')
    """

    kind: Kind = "float"
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"type = {self.kind!r}: expected one of {', '.join(KINDS)}")
        if self.values and self.kind not in ("enum", "string"):
            raise InputError(f"values: expected none, as the type is {self.kind}")
        if len(set(self.values)) < len(self.values):
            raise InputError("values: expected no two equal")
        if self.kind == "enum" and not self.values:
            raise InputError("values: expected at least one, as the type is enum")
        if self.kind == "string" and self.values:
            object.__setattr__(self, "values", tuple(sorted(self.values)))

    @cached_property
    def attribute(self) -> Attribute:
        """The library's type, which maps values to coordinates."""
        plain: dict[str, type[Attribute]] = {
            "float": Float, "int": Int, "bool": Bool, "timestamp": Timestamp, "date": Date,
        }  # fmt: skip
        if self.kind == "enum":
            return Enum(self.values)
        return String(self.values or None) if self.kind == "string" else plain[self.kind]()

    @property
    def expected(self) -> str:
        """A short description of the valid values."""
        many = self.kind == "enum" and len(self.values) > 8  # too many for a message
        return f"one of {len(self.values)} values" if many else self.attribute.expected

    @property
    def is_text(self) -> bool:
        """Whether values are text."""
        return self.kind in ("enum", "string")

    @property
    def is_whole(self) -> bool:
        """Whether coordinates are whole numbers."""
        return self.kind != "float"

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the axis if the type determines them; else None."""
        return self.attribute.bounds if self.is_text or self.kind == "bool" else None

    def text(self, coordinate: float) -> str:
        """The value at a coordinate, as text; between two strings, the one before the coordinate."""
        if np.isinf(coordinate):
            return "…"
        if self.kind == "float":
            return f"{coordinate:.6g}"
        place = round(coordinate)
        if self.kind == "enum":
            return self.values[min(max(place, 0), len(self.values) - 1)]
        if self.kind == "string":
            return self._string(place)
        if self.kind == "bool":
            return "true" if place else "false"
        if self.kind == "date":
            return _moment(timedelta(days=place)).partition("T")[0]
        return _moment(timedelta(microseconds=place)) if self.kind == "timestamp" else str(place)

    def _string(self, place: int) -> str:
        if self.values:
            return self.values[min(max((place - 1) // 2, 0), len(self.values) - 1)]
        digits = [place // 2 // 257**power % 257 for power in range(5, -1, -1)]
        return bytes(digit - 1 for digit in digits if digit).decode("utf-8", "replace")

    def texts(self, coordinates: NDArray[np.float64]) -> list[str]:
        """The values at coordinates."""
        return [self.text(coordinate) for coordinate in coordinates.tolist()]

    def width(self, length: float) -> str:
        """A length on the axis, as text.

        Examples
        --------
        >>> ValueType("date").width(31), ValueType("timestamp").width(3.6e9), ValueType("bool").width(1)
        ('31 days', '1:00:00', '2 values')
        """
        if self.kind == "timestamp":
            return str(timedelta(microseconds=length)).removesuffix(", 0:00:00")
        if self.kind in ("float", "int", "date"):
            return f"{length:.4g}{' days' if self.kind == 'date' else ''}"
        count = length // 2 + 1 if self.kind == "string" else length + 1
        count = min(count, len(self.values) or count)
        return f"{count:g} value{'' if count == 1 else 's'}"

    def title(self, name: str) -> str:
        """An attribute's name, with the meaning of its coordinates unless they are the values themselves.

        Examples
        --------
        >>> ValueType("enum", ("S", "L")).title("size"), ValueType("date").title("due")
        ('size: 0 S, 1 L', 'due (days since 1970)')
        """
        if self.values:
            few = self.values[:6]
            places = range(1, 12, 2) if self.kind == "string" else range(6)
            listed = [f"{place} {value}" for place, value in zip(places, few, strict=False)]
            return f"{name}: {', '.join(listed)}{', …' if len(self.values) > len(few) else ''}"
        unit = {"timestamp": " (µs since 1970)", "date": " (days since 1970)", "bool": ": 0 false, 1 true"}
        return name + unit.get(self.kind, "")

    def to_dict(self) -> dict[str, Any]:
        """The form in manifests."""
        return {"type": self.kind, **({"values": list(self.values)} if self.values else {})}


FLOAT = ValueType()


def _moment(since: timedelta) -> str:
    try:
        return (_EPOCH + since).replace(tzinfo=None).isoformat()
    except OverflowError:
        return "…"


def types_to(types: Mapping[str, ValueType]) -> dict[str, dict[str, Any]]:
    """Types by attribute, in the form of a manifest."""
    return {name: kind.to_dict() for name, kind in types.items()}


def types_from(names: list[str], data: Mapping[str, Mapping[str, Any]] | None) -> dict[str, ValueType]:
    """Types by attribute, from the form of a manifest; float for attributes that it leaves out.

    Examples
    --------
    >>> types_from(["x", "size"], {"size": {"type": "int"}})["size"].kind
    'int'
    """
    given = {name: (data or {}).get(name, {}) for name in names}
    return {
        name: ValueType(own.get("type", "float"), tuple(own.get("values", ()))) for name, own in given.items()
    }
