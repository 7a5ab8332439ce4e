"""Foreign tables of subscriptions and events, converted to coordinates."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.arrays import Floats, Mask
from workloads.folder.attribute_columns import Columns
from workloads.folder.columns import coordinates
from workloads.folder.tables import Batch, Rows, TextForm
from workloads.spec.types import FLOAT, ValueType

Types = Mapping[str, ValueType]


class Conversion:
    """Converts columns of a batch, and keeps the first reason against each invalid row."""

    def __init__(self, batch: Batch, form: TextForm) -> None:
        self.batch, self.form = batch, form
        self.reasons: dict[int, str] = {}

    def values(
        self, column: str, what: str, kind: ValueType, *, named: bool = True, end: float | None = None
    ) -> Floats:
        """Coordinates of a column; `end`, if given, is the coordinate of a missing value."""
        cells, open_end = self.batch.column(column), np.nan if end is None else end
        found = coordinates(cells, kind, self.form, named=named, open_end=open_end)
        wrong = found.wrong if end is not None else found.wrong | found.missing
        self.reject(wrong, lambda row: _mistake(what, kind, cells[row].as_py()))
        if end is not None:
            found.values[found.missing] = end
        return found.values

    def keys(self, column: str) -> NDArray[Any]:
        """A column as text; rows without a value are rejected."""
        keys = self.batch.column(column).to_pylist()
        self.reject(
            np.array([key is None for key in keys], bool), lambda _: f"{column}: expected a key, got none"
        )
        found = np.empty(len(keys), object)
        found[:] = [str(key) for key in keys]
        return found

    def reject(self, bad: Mask, reason: Callable[[int], str]) -> None:
        """Reject the rows where `bad` holds."""
        for row in np.flatnonzero(bad).tolist():
            self.reasons.setdefault(row, reason(row))


def _mistake(what: str, kind: ValueType, value: Any) -> str:
    if kind == FLOAT and _is_integer(value):
        return f"{what}: expected an integer within ±2^53, got {value}"
    return f"{what}: expected {'a finite number' if kind == FLOAT else kind.expected}, got {value!r}"


def _is_integer(value: Any) -> bool:
    """Whether a value that is not a finite float is an integer, or the text of one."""
    if not isinstance(value, str):
        return not isinstance(value, float | bool | None)
    try:
        int(value)
    except ValueError:
        return False
    return True


class Pieces(ABC):
    """A table that is converted; `key` is the column with the names of the subscribers."""

    rows: Rows
    key: str | None = None

    @abstractmethod
    def names(self) -> list[str]:
        """The columns that are converted."""

    @abstractmethod
    def convert(self, conversion: Conversion) -> list[NDArray[Any]]:
        """The coordinates of a batch."""

    def gather(self) -> tuple[list[NDArray[Any]], dict[int, str]]:
        """The columns of the valid rows, the key last if there is one, and the reason against each other."""
        key = [self.key] if self.key else []
        batch = self.rows.batch([*self.names(), *key])
        conversion = Conversion(batch, self.rows.form)
        columns = [*self.convert(conversion), *map(conversion.keys, key)]
        good = np.ones(len(batch.numbers), bool)
        good[list(conversion.reasons)] = False
        against = {int(batch.numbers[row]): why for row, why in conversion.reasons.items()}
        return [column[good] for column in columns], self.rows.ragged | against

    def valid(self, what: str) -> list[NDArray[Any]]:
        """The columns of all rows; an invalid row is an error."""
        columns, against = self.gather()
        refuse(what, against)
        return columns


def refuse(what: str, against: Mapping[int, str]) -> None:
    """Raise if there is a reason against any row, naming the first."""
    if against:
        row, others = min(against), len(against) - 1
        more = f" ({others} more rows cannot be used)" if others else ""
        raise InputError(f"{what}, {_place(what, row)}: {against[row]}{more}")


def _place(what: str, row: int) -> str:
    """The line of a CSV file, as an editor counts, with names of columns and empty lines; else the row."""
    if Path(what).suffix != ".csv" or not Path(what).is_file():
        return f"row {row}"
    with Path(what).open(encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.reader(file)
        lines = (reader.line_num for cells in reader if cells)
        return f"line {next(islice(lines, row + 1, None), row)}"


@dataclass(frozen=True)
class SubscriptionTable(Pieces):
    """Closed ranges in a table.

    Attributes
    ----------
    rows : Rows
    columns : mapping
        The columns of each attribute: (low, high), or one column for exact values.
    types : mapping
        The type of each attribute.
    axes : mapping
        The ends (low, high) of an attribute, for open ranges; by default those of its type, or infinite.
    key : str, optional
        Column with the names of the subscribers.
    """

    rows: Rows
    columns: Columns
    types: Types
    axes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    key: str | None = None

    def names(self) -> list[str]:
        """The columns of all attributes."""
        pairs = (where if isinstance(where, tuple) else (where,) for where in self.columns.values())
        return [name for pair in pairs for name in pair]

    def convert(self, conversion: Conversion) -> list[NDArray[Any]]:
        """Low and high of each attribute in turn."""
        return [side for name in self.columns for side in self._ends(conversion, name)]

    def _ends(self, conversion: Conversion, name: str) -> tuple[Floats, Floats]:
        where, kind = self.columns[name], self.types[name]
        if isinstance(where, str):
            exact = conversion.values(where, name, kind)
            return exact, exact
        low_end, high_end = self.axes.get(name) or kind.ends or (-np.inf, np.inf)
        low = conversion.values(where[0], f"{name} low", kind, end=low_end)
        high = conversion.values(where[1], f"{name} high", kind, end=high_end)
        shown = str if kind.kind in ("float", "int") else kind.text

        def upside_down(row: int) -> str:
            return f"{name}: low {shown(float(low[row]))} > high {shown(float(high[row]))}"

        conversion.reject(low > high, upside_down)
        return low, high


@dataclass(frozen=True)
class EventTable(Pieces):
    """Points in a table: a column for each attribute."""

    rows: Rows
    columns: Mapping[str, str]
    types: Types

    def names(self) -> list[str]:
        """The column of each attribute."""
        return list(self.columns.values())

    def convert(self, conversion: Conversion) -> list[NDArray[Any]]:
        """The coordinate of each attribute in turn."""
        return [
            conversion.values(where, name, self.types[name], named=False)
            for name, where in self.columns.items()
        ]
