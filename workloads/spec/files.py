"""Workload specs as TOML files.

    name = "stocks"
    events_follow = "interest"

    [[attributes]]
    name = "price"
    high = 1000.0
    wildcard = 0.1
    interest = { kind = "normal", mean = 0.3, deviation = 0.1 }
    width = { kind = "power-law", alpha = 4 }

    [[attributes]]
    name = "symbol"
    type = "enum"           # or float, int, bool, string, timestamp, date
    values = ["ACME", "EMCA"]

Keys are the fields of `Spec`, `Attribute` and the distributions; `kind` names the distribution. An
empirical distribution and the event table may name a file, relative to the TOML file:
`{ kind = "empirical", file = "prices.csv", column = "price" }`, `event_table = { file = "trades.parquet" }`.

A topic workload has a table `topics` in place of attributes, see `workloads.spec.topic_files`; either may
have one for churn, whose keys are the fields of `Churn`:

    [churn]
    session = 50
    absence = 10
    change = 0.01
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import WithJsonSchema

from sub2sub.errors import InputError
from workloads.folder.foreign import read_events
from workloads.settings.alternatives import either, list_of, one_of
from workloads.settings.documents import Document
from workloads.settings.models import table, value_type
from workloads.settings.parameters import Parameter
from workloads.spec.distributions import Constant, Empirical, Mixture, Normal, PowerLaw, Uniform, Zipf
from workloads.spec.spec import Attribute, Spec
from workloads.spec.topic_files import TOPIC_WORKLOAD
from workloads.spec.types import FLOAT, Kind, ValueType


@dataclass(frozen=True)
class SeenValues:
    """Observed values, drawn in proportion to their weights: given here, or in a column of a file.

    Attributes
    ----------
    seen : tuple of float
        The values, as shares of the axis.
    file : path
        A table with the values on the axis; instead of `seen`.
    column : str
        Column of the file; the name of the attribute if not given.
    weights : tuple of float
        One per value; all equal if not given.
    """

    seen: tuple[float, ...] | None = None
    file: Path | None = None
    column: str | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse two sources or none, and a column without a file."""
        if (self.seen is None) == (self.file is None):
            raise InputError("seen: expected either seen or file")
        if self.column is not None and self.file is None:
            raise InputError("column: expected only with 'file'")

    def distribution(self, of: Attribute | None = None, is_width: bool = False) -> Empirical:
        """The distribution of values on an attribute's axis, or of lengths."""
        seen = self.seen or ()
        if self.file is not None and of is not None:
            kinds = {of.name: FLOAT if is_width else of.kind}
            column = read_events(self.file, {of.name: self.column or of.name}, types=kinds)[:, 0]
            shares = column / (of.high - of.low) if is_width else of.share(column)
            seen = tuple(shares.tolist())
        return Empirical(seen, self.weights)


def _seen(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> Any:
    """A distribution, or the `SeenValues` of a file, which need the axis to make one."""
    seen = SeenValues(**values)
    return seen if seen.file is not None else seen.distribution()


_PLAIN = {"constant": Constant, "normal": Normal, "power-law": PowerLaw, "uniform": Uniform, "zipf": Zipf}
_KINDS = {kind: table(cls, kind=kind) for kind, cls in _PLAIN.items()}
_KINDS["empirical"] = table(SeenValues, kind="empirical", make=_seen)
_NESTED = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "properties": {"kind": {"const": "mixture"}}, "required": ["kind"]}),
]
_PART = one_of(_KINDS, word=True, options=(*_KINDS.values(), _NESTED))
_KINDS["mixture"] = table(Mixture, kind="mixture", hints={"parts": list_of(_PART)})
_DISTRIBUTION = one_of(_KINDS, word=True)


def _attribute(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> Attribute:
    drawn = {key: values.pop(key) for key in ("interest", "width") if key in values}
    for end in ("low", "high"):
        if end in values:
            values[end] = _end(end, values[end], values.get("type", "float"))
    made = Attribute(**values)
    # Observed widths are lengths on the axis, not coordinates.
    found = {key: _on_axis(value, made, key == "width") for key, value in drawn.items()}
    return replace(made, **found)


def _end(end: str, value: Any, kind: Kind) -> float:
    """An end of an axis as a coordinate, from a number or a moment."""
    if isinstance(value, float | int):
        return float(value)
    if kind not in ("timestamp", "date"):
        raise InputError(f"{end}: expected a number, got {value!r}")
    # A day stands for the moment at which it begins.
    moment = value.isoformat() if isinstance(value, date) and not isinstance(value, datetime) else value
    found, valid = ValueType(kind).attribute.coordinates(np.array([moment], object), named=True)
    if not valid[0]:
        raise InputError(f"{end}: expected {ValueType(kind).expected}, got {value!r}")
    return float(found[0])


def _on_axis(drawn: Any, attribute: Attribute, is_width: bool) -> Any:
    """A distribution, with the values of its files."""
    if isinstance(drawn, Mixture):
        return replace(drawn, parts=tuple(_on_axis(part, attribute, is_width) for part in drawn.parts))
    return drawn.distribution(attribute, is_width) if isinstance(drawn, SeenValues) else drawn


@dataclass(frozen=True)
class EventFile:
    """A table of points that events are drawn from.

    Attributes
    ----------
    file : path
        The table.
    columns : tuple of str
        The column of each attribute; by default the columns named like the attributes.
    """

    file: Path
    columns: tuple[str, ...] | None = None


def _spec(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> Spec:
    if "name" not in values and "name" not in context:
        raise InputError("name: expected a value, there is none")
    if isinstance(source := values.get("event_table"), EventFile):
        types = {attribute.name: attribute.kind for attribute in values["attributes"]}
        columns = dict(zip(types, source.columns or types, strict=True))
        points = read_events(source.file, columns, types=types)
        values["event_table"] = tuple(map(tuple, points.tolist()))
    return Spec(**{"name": context.get("name"), **values})


_MOMENT = Annotated[Any, WithJsonSchema({"type": "string", "format": "date-time"})]
_NUMBER = value_type(float)
_END = either(lambda data: _NUMBER if isinstance(data, float | int | bool) else _MOMENT, _NUMBER, _MOMENT)
_POINTS, _FILE = value_type(tuple[tuple[float, ...], ...]), table(EventFile)
_SPEC = table(
    Spec,
    more={"name": Parameter(str, None)},
    hints={
        "attributes": list_of(
            table(
                Attribute,
                hints={"interest": _DISTRIBUTION, "width": _DISTRIBUTION, "low": _END, "high": _END},
                make=_attribute,
            )
        ),
        "event_table": either(lambda data: _FILE if isinstance(data, Mapping) else _POINTS, _POINTS, _FILE),
    },
    make=_spec,
)
WORKLOAD = either(
    lambda data: TOPIC_WORKLOAD if isinstance(data, Mapping) and "topics" in data else _SPEC,
    _SPEC,
    TOPIC_WORKLOAD,
)
"""The type of a workload spec, for `workloads.settings`."""


def load(path: Path) -> Spec:
    """The workload that a TOML file describes.

    Raises
    ------
    InputError
        With one line per error: file, line, key and what was expected.
    """
    return Document.open(path).read(WORKLOAD, name=path.stem)  # type: ignore[no-any-return]
