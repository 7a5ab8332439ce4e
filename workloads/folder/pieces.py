"""Foreign tables of subscriptions and events, converted to coordinates batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workloads.folder.attribute_columns import Columns
from workloads.folder.columns import coordinates
from workloads.folder.rejected import Rejected
from workloads.folder.tables import Batch, Rows, TextForm
from workloads.spec.types import FLOAT, ValueType

Floats = NDArray[np.float64]
Types = Mapping[str, ValueType]


@dataclass
class Piece:
    """A converted batch: columns of the valid rows, and the reason against each other row."""

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

    def reject(self, bad: NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        """Reject the rows where `bad` holds."""
        for row in np.flatnonzero(bad).tolist():
            self.reasons.setdefault(row, reason(row))

    def piece(self, columns: Sequence[NDArray[Any]]) -> Piece:
        """The columns without the rejected rows."""
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

    def pieces(self) -> Iterator[Piece]:
        """Its batches, converted."""


def gather(table: Pieces, width: int) -> tuple[list[NDArray[Any]], Rejected]:
    """All valid rows of a table, as `width` columns, and the rejected ones."""
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
