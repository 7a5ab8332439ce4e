"""Subscriptions and events from elsewhere: tables of any form and any names of columns, of typed attributes.

A mapping says which columns hold an attribute: `{"price": ("min_price", "max_price")}` for a range,
`{"price": "price"}` for an exact value or for an event. Without one, subscriptions are expected in columns
X_low and X_high and events in columns X, as `workloads.folder.layout` writes them. An empty end of a range
is open: it reaches to the end of the axis.

A row that cannot be used (a wrong type, NaN, low > high, an empty value, a line of a CSV file with too few or
too many values) is counted and kept aside with its row number, from 0, and reason, or refused, as the caller
chooses; never dropped in silence. Tables are gone through in batches (`workloads.folder.tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.folder.columns import coordinates, distinct, guess_kind
from workloads.folder.tables import Batch, Rows, TextForm
from workloads.spec.types import FLOAT, Kind, ValueType

if TYPE_CHECKING:
    from workloads.folder.tables import Source

__all__ = [
    "Columns", "EventTable", "OnBad", "Piece", "Pieces", "Rejected", "SubscriptionTable", "find_types",
    "gather", "guess_ranges", "read_events", "read_subscriptions",
]  # fmt: skip

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OnBad = Literal["refuse", "set aside"]
Columns = Mapping[str, str | tuple[str, str]]
Types = Mapping[str, ValueType]


@dataclass(frozen=True)
class Rejected:
    """The rows that could not be used: their numbers (from 0) and one reason each."""

    rows: Integers
    reasons: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    def refuse(self, what: str) -> None:
        """Raise if there are any, naming the first."""
        if len(self):
            more = f" ({len(self) - 1} more rows cannot be used)" if len(self) > 1 else ""
            raise InputError(f"{what}, row {self.rows[0]}: {self.reasons[0]}{more}")


@dataclass
class Piece:
    """What a batch of rows came to: columns of the rows that can be used, and reasons against the others."""

    columns: list[NDArray[Any]]
    against: dict[int, str] = field(default_factory=dict)  # by row number


class _Judge:
    """The first reason against each row of a batch."""

    def __init__(self, batch: Batch, form: TextForm, named: bool) -> None:
        self.batch, self.form, self.named = batch, form, named
        self.reasons: dict[int, str] = {}

    def values(self, column: str, what: str, kind: ValueType, end: float | None = None) -> Floats:
        """Coordinates of a column; `end`, if given, is where a missing value reaches to."""
        open_end = np.nan if end is None else end
        found = coordinates(self.batch.column(column), kind, self.form, named=self.named, open_end=open_end)
        wrong = found.wrong if end is not None else found.wrong | found.missing
        for row in np.flatnonzero(wrong).tolist():
            self.reasons.setdefault(row, _mistake(what, kind, self.batch.column(column)[row].as_py()))
        values = found.values
        if end is not None:
            values[found.missing] = end
        return values

    def reject(self, bad: NDArray[np.bool_], reason: Any) -> None:
        """Reject the rows where `bad` holds."""
        for row in np.flatnonzero(bad).tolist():
            self.reasons.setdefault(row, reason(row))

    def piece(self, columns: Sequence[NDArray[Any]]) -> Piece:
        """The columns, without the rows that there is something against."""
        good = np.ones(len(self.batch.numbers), bool)
        good[list(self.reasons)] = False
        against = {int(self.batch.numbers[row]): why for row, why in self.reasons.items()}
        return Piece([column[good] for column in columns], against)


def _mistake(what: str, kind: ValueType, value: Any) -> str:
    if kind == FLOAT:
        finite = isinstance(value, float | str) or value is None or isinstance(value, bool)
        expected = "a finite number" if finite and not _is_integer(value) else "an integer within ±2^53"
        shown = value if expected != "a finite number" else repr(value)
        return f"{what}: expected {expected}, got {shown}"
    return f"{what}: expected {kind.expected}, got {value!r}"


def _is_integer(value: Any) -> bool:
    try:
        int(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(value, str)


@dataclass(frozen=True)
class SubscriptionTable:
    """Closed ranges in a table, batch by batch.

    Attributes
    ----------
    rows : Rows
    columns : mapping
        Attribute to (low column, high column), or to one column for exact values.
    types : mapping
        Attribute to its type.
    axes : mapping
        Attribute to (low, high), the ends that open ranges reach to; those of its type, or infinite, if not
        given.
    key : str, optional
        A column that names the subscribers; kept as text.
    """

    rows: Rows
    columns: Columns
    types: Types
    axes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    key: str | None = None

    def pieces(self) -> Iterator[Piece]:
        """Low and high of each attribute in turn, and the key where there is one."""
        pairs = [where if isinstance(where, tuple) else (where,) for where in self.columns.values()]
        wanted = [name for pair in pairs for name in pair]
        for batch in self.rows.batches(wanted + ([self.key] if self.key else [])):
            judge = _Judge(batch, self.rows.form, named=True)
            columns = [side for name in self.columns for side in self._ends(judge, name)]
            if self.key:
                columns.append(_keys(judge, self.key))
            yield judge.piece(columns)

    def _ends(self, judge: _Judge, name: str) -> tuple[Floats, Floats]:
        where, kind = self.columns[name], self.types[name]
        if isinstance(where, str):
            exact = judge.values(where, name, kind)
            return exact, exact
        low_end, high_end = self.axes.get(name) or kind.ends or (-np.inf, np.inf)
        low = judge.values(where[0], f"{name} low", kind, low_end)
        high = judge.values(where[1], f"{name} high", kind, high_end)
        numbers = kind.kind in ("float", "int")

        def upside_down(row: int) -> str:
            ends = [float(side[row]) for side in (low, high)]
            shown = [str(end) if numbers else kind.text(end) for end in ends]
            return f"{name}: low {shown[0]} > high {shown[1]}"

        judge.reject(low > high, upside_down)
        return low, high


def _keys(judge: _Judge, column: str) -> NDArray[Any]:
    keys = judge.batch.column(column).to_pylist()
    judge.reject(
        np.array([key is None for key in keys], bool), lambda _: f"{column}: expected a key, got none"
    )
    found = np.empty(len(keys), object)
    found[:] = [str(key) for key in keys]
    return found


@dataclass(frozen=True)
class EventTable:
    """Points in a table, batch by batch: a column for each attribute."""

    rows: Rows
    columns: Mapping[str, str]
    types: Types

    def pieces(self) -> Iterator[Piece]:
        """The coordinate of each attribute in turn."""
        for batch in self.rows.batches(list(self.columns.values())):
            judge = _Judge(batch, self.rows.form, named=False)
            yield judge.piece(
                [judge.values(where, name, self.types[name]) for name, where in self.columns.items()]
            )


class Pieces(Protocol):
    """A table that comes in pieces."""

    @property
    def rows(self) -> Rows:
        """The table."""
        ...

    def pieces(self) -> Iterator[Piece]:
        """Its batches, converted."""
        ...


def gather(table: Pieces, width: int) -> tuple[list[NDArray[Any]], Rejected]:
    """All rows that can be used, `width` columns of them, and the others."""
    pieces = list(table.pieces())
    columns = [
        np.concatenate([piece.columns[place] for piece in pieces]) if pieces else np.empty(0)
        for place in range(width)
    ]
    against = dict(table.rows.ragged)
    for piece in pieces:
        against |= piece.against
    rows = np.array(sorted(against), np.int64)
    return columns, Rejected(rows, [against[row] for row in rows.tolist()])


def find_types(
    subscriptions: Rows,
    columns: Columns,
    events: Rows | None = None,
    event_columns: Mapping[str, str] | None = None,
    given: Mapping[str, ValueType | Kind] | None = None,
) -> dict[str, ValueType]:
    """The type of each attribute: as given, or as its columns seem to be.

    Strings and enums of which no values are given have those of the subscriptions; an enum those of the
    events too, which it could not have otherwise.

    Examples
    --------
    >>> import pyarrow as pa
    >>> wanted = Rows(pa.table({"city": ["Rome", "Bern"], "low": [1, 2], "high": [3, None]}))
    >>> found = find_types(wanted, {"city": "city", "floor": ("low", "high")})
    >>> found["city"].values, found["floor"].kind
    (('Bern', 'Rome'), 'int')
    """
    for name in given or {}:
        if name not in columns:
            raise InputError(f"type of {name!r}: expected one of the attributes {', '.join(columns)}")
    found: dict[str, ValueType] = {}
    for name, where in columns.items():
        own = list(where) if isinstance(where, tuple) else [where]
        at_event = (event_columns or {}).get(name, name) if events is not None else None
        kind = (given or {}).get(name)
        if kind is None:
            kind = guess_kind(subscriptions, own)
            if events is not None and at_event is not None and kind in ("int", "float"):
                # Whole bounds do not make whole events.
                kind = "int" if kind == guess_kind(events, [at_event]) == "int" else "float"
        if kind in ("string", "enum"):
            values = distinct(subscriptions, own)
            if kind == "enum" and events is not None and at_event is not None:
                values = tuple(sorted({*values, *distinct(events, [at_event])}))
            found[name] = ValueType(kind, values)
        else:
            found[name] = kind if isinstance(kind, ValueType) else ValueType(kind)
    return found


def guess_ranges(rows: Rows) -> Columns:
    """Columns of attributes called X_low and X_high."""
    names = [name[: -len("_low")] for name in rows.names if name.endswith("_low")]
    if not names:
        raise InputError(
            f"{rows.what}: expected columns X_low and X_high for each attribute X, or a mapping of columns "
            f"(--column X=LOW,HIGH); it has {', '.join(rows.names)}"
        )
    return {name: (f"{name}_low", f"{name}_high") for name in names}


def read_subscriptions(
    source: Source,
    columns: Columns | None = None,
    *,
    on_bad: OnBad = "refuse",
    axes: Mapping[str, tuple[float, float]] | None = None,
    form: TextForm | None = None,
    types: Mapping[str, ValueType | Kind] | None = None,
) -> tuple[list[str], Floats, Floats, Rejected]:
    """Closed ranges from a table: attribute names, lows, highs, and the rows that could not be used.

    Parameters
    ----------
    source : path, pyarrow Table, or DataFrame of pandas or Polars
    columns : mapping, optional
        Attribute to (low column, high column), or to one column for exact values.
    on_bad : {"refuse", "set aside"}
        Raise at the first row that cannot be used, or return them all in the last value.
    axes : mapping, optional
        Attribute to (low, high), the ends that open ranges reach to; infinite if not given.
    form : TextForm, optional
        How numbers and lines of a CSV file are written.
    types : mapping, optional
        Attribute to its type; as its columns seem to be if not given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"min": [1.0, 5.0, None], "max": [2.0, 3.0, 4.0]})
    >>> columns = {"price": ("min", "max")}
    >>> names, lows, highs, rejected = read_subscriptions(table, columns, on_bad="set aside")
    >>> lows.tolist(), highs.tolist(), rejected.rows.tolist(), rejected.reasons
    ([[1.0], [-inf]], [[2.0], [4.0]], [1], ['price: low 5.0 > high 3.0'])
    """
    rows = Rows(source, form)
    columns = columns or guess_ranges(rows)
    table = SubscriptionTable(rows, columns, find_types(rows, columns, given=types), axes or {})
    ends, rejected = gather(table, 2 * len(columns))
    if on_bad == "refuse":
        rejected.refuse("subscriptions")
    return list(columns), np.stack(ends[::2], axis=1), np.stack(ends[1::2], axis=1), rejected


def read_events(
    source: Source,
    columns: Mapping[str, str] | list[str],
    *,
    on_bad: OnBad = "refuse",
    form: TextForm | None = None,
    types: Types | None = None,
) -> tuple[Floats, Rejected]:
    """Points from a table, one column per attribute, and the rows that could not be used.

    Parameters
    ----------
    columns : mapping or list
        Attribute to column, in the order of the attributes; a list where they are called the same.
    types : mapping, optional
        Attribute to its type; numbers if not given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> points, rejected = read_events(pa.table({"p": ["1.5", "cheap"]}), {"price": "p"}, on_bad="set aside")
    >>> points.tolist(), rejected.reasons
    ([[1.5]], ["price: expected a finite number, got 'cheap'"])
    """
    named = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    table = EventTable(Rows(source, form), named, types or dict.fromkeys(named, FLOAT))
    found, rejected = gather(table, len(named))
    if on_bad == "refuse":
        rejected.refuse("events")
    return np.stack(found, axis=1), rejected
