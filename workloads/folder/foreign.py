"""Subscriptions and events from elsewhere: CSV, Parquet, Arrow or pandas, under whatever column names.

A mapping says which columns hold an attribute: `{"price": ("min_price", "max_price")}` for a range,
`{"price": "price"}` for an exact value or for an event. Without one, subscriptions are expected in columns
X_low and X_high and events in columns X, as `workloads.folder.layout` writes them. An empty end of a range
is open: it reaches to the end of the axis.

A row that cannot be used (a wrong type, NaN, low > high, an empty value, a line of a CSV file with too few or
too many values) is counted and kept aside with its row number, from 0, and reason, or refused, as the caller
chooses; never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write
from workloads.folder.tables import TextForm, read_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    Source: TypeAlias = Path | str | pa.Table | pd.DataFrame

__all__ = ["Rejected", "read_events", "read_keys", "read_subscriptions", "read_topics", "read_tree"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OnBad = Literal["refuse", "set aside"]
Columns = Mapping[str, str | tuple[str, str]]


@dataclass(frozen=True)
class Rejected:
    """The rows that could not be used: their numbers (from 0) and one reason each."""

    rows: Integers
    reasons: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, path: Path) -> None:
        """As CSV with the columns row and reason."""
        import pyarrow as pa
        from pyarrow import csv

        with atomic_write(path) as draft:
            csv.write_csv(pa.table({"row": self.rows, "reason": pa.array(self.reasons, pa.string())}), draft)


class _Rows:
    """A table, and the reason against each of its rows that cannot be used; the first one counts."""

    def __init__(self, source: Source, form: TextForm | None = None) -> None:
        ragged: dict[int, str] = {}
        self.table = _table(source, ragged, form)
        self.reasons: dict[int, str] = {}  # by place in the table
        self._ragged = ragged
        every = np.arange(self.table.num_rows + len(ragged))
        self._numbers = np.delete(every, list(ragged))  # of the rows that made it into the table

    def places(self, numbers: Integers) -> set[int]:
        """Places in the table of rows by their numbers."""
        return set(np.flatnonzero(np.isin(self._numbers, numbers)).tolist())

    def reject(self, bad: NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        """Reject the rows where `bad` holds."""
        for row in np.flatnonzero(bad).tolist():
            self.reasons.setdefault(row, reason(row))

    def split(self, on_bad: OnBad, what: str) -> tuple[NDArray[np.bool_], Rejected]:
        """Which rows of the table are good, and the others."""
        against = self._ragged | {int(self._numbers[row]): why for row, why in self.reasons.items()}
        rows = np.array(sorted(against), np.int64)
        if len(rows) and on_bad == "refuse":
            more = f" ({len(rows) - 1} more rows cannot be used)" if len(rows) > 1 else ""
            raise InputError(f"{what}, row {rows[0]}: {against[int(rows[0])]}{more}")
        good = np.ones(self.table.num_rows, bool)
        good[list(self.reasons)] = False
        return good, Rejected(rows, [against[row] for row in rows.tolist()])


def read_subscriptions(
    source: Source,
    columns: Columns | None = None,
    *,
    on_bad: OnBad = "refuse",
    axes: Mapping[str, tuple[float, float]] | None = None,
    form: TextForm | None = None,
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

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"min": [1.0, 5.0, None], "max": [2.0, 3.0, 4.0]})
    >>> columns = {"price": ("min", "max")}
    >>> names, lows, highs, rejected = read_subscriptions(table, columns, on_bad="set aside")
    >>> lows.tolist(), highs.tolist(), rejected.rows.tolist(), rejected.reasons
    ([[1.0], [-inf]], [[2.0], [4.0]], [1], ['price: low 5.0 > high 3.0'])
    """
    rows = _Rows(source, form)
    table = rows.table
    columns = columns or _guess_ranges(table)
    lows, highs = np.empty((table.num_rows, len(columns))), np.empty((table.num_rows, len(columns)))
    for axis, (name, where) in enumerate(columns.items()):
        open_low, open_high = (axes or {}).get(name, (-np.inf, np.inf))
        if isinstance(where, str):
            lows[:, axis] = highs[:, axis] = _numbers(table, where, name, rows, None)
            continue
        low = _numbers(table, where[0], f"{name} low", rows, open_low)
        high = _numbers(table, where[1], f"{name} high", rows, open_high)
        rows.reject(low > high, partial(_upside_down, name, low, high))
        lows[:, axis], highs[:, axis] = low, high
    good, rejected = rows.split(on_bad, "subscriptions")
    return list(columns), lows[good], highs[good], rejected


def _upside_down(name: str, low: Floats, high: Floats, row: int) -> str:
    return f"{name}: low {low[row]} > high {high[row]}"


def read_events(
    source: Source,
    columns: Mapping[str, str] | list[str],
    *,
    on_bad: OnBad = "refuse",
    form: TextForm | None = None,
) -> tuple[Floats, Rejected]:
    """Points from a table, one column per attribute, and the rows that could not be used.

    Parameters
    ----------
    columns : mapping or list
        Attribute to column, in the order of the attributes; a list where they are called the same.

    Examples
    --------
    >>> import pyarrow as pa
    >>> points, rejected = read_events(pa.table({"p": ["1.5", "cheap"]}), {"price": "p"}, on_bad="set aside")
    >>> points.tolist(), rejected.reasons
    ([[1.5]], ["price: expected a finite number, got 'cheap'"])
    """
    rows = _Rows(source, form)
    named = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    columns_of = [_numbers(rows.table, where, name, rows, None) for name, where in named.items()]
    points = np.stack(columns_of, axis=1)
    good, rejected = rows.split(on_bad, "events")
    return points[good], rejected


def read_keys(source: Source, column: str, rejected: Rejected, *, form: TextForm | None = None) -> pa.Array:
    """The names of subscribers, as text, of the rows that were not rejected.

    Raises
    ------
    InputError
        Where one is missing.
    """
    import pyarrow as pa

    rows = _Rows(source, form)
    bad = rows.places(rejected.rows)
    names = [value for row, value in enumerate(_column(rows.table, column).to_pylist()) if row not in bad]
    if None in names:
        raise InputError(f"{column}, usable row {names.index(None)}: expected a key, got none")
    return pa.array([str(name) for name in names], pa.string())


def read_topics(
    source: Source,
    column: str = "topic",
    *,
    known: list[str] | None = None,
    on_bad: OnBad = "refuse",
    form: TextForm | None = None,
    separator: str | None = None,
) -> tuple[list[str], Rejected]:
    """Topic paths such as `.sport.soccer`, one per row, and the rows that could not be used.

    Parameters
    ----------
    known : list of str, optional
        The topics there are; any well-formed path if not given.
    separator : str, optional
        Between the names of a path written otherwise: with "::", `Sport :: Soccer 2.0` is read as
        `.Sport.Soccer 2%2E0`. Without it, paths are such as `.sport.soccer`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"topic": [".sport", "sport..x", ".news"]})
    >>> topics, rejected = read_topics(table, known=[".sport"], on_bad="set aside")
    >>> topics, rejected.rows.tolist()
    (['.sport'], [1, 2])
    """
    rows = _Rows(source, form)
    values = _paths(rows, column, separator)
    if known is not None:
        there = set(known)
        rows.reject(
            np.array([v not in there for v in values], bool), lambda row: f"unknown topic {values[row]!r}"
        )
    good, rejected = rows.split(on_bad, "topics")
    return [value for value, usable in zip(values, good, strict=True) if usable], rejected


def read_tree(
    source: Source,
    column: str | None = None,
    *,
    on_bad: OnBad = "refuse",
    form: TextForm | None = None,
    separator: str | None = None,
    implied: bool = False,
) -> tuple[list[str], Rejected]:
    """The topics of a tree, a path per row, each once and under one of the others; the root may be left out.

    Parameters
    ----------
    column : str, optional
        `path` or `topic`, whichever there is, if not given.
    separator : str, optional
        As in `read_topics`.
    implied : bool
        Add supertopics that are not listed, instead of rejecting the topics below them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tree = pa.table({"path": [".sport", ".sport.soccer", ".art.jazz", ".sport"]})
    >>> topics, rejected = read_tree(tree, on_bad="set aside")
    >>> topics, rejected.reasons
    (['.', '.sport', '.sport.soccer'], ["supertopic of '.art.jazz' is unknown", "topic '.sport' again"])
    """
    rows = _Rows(source, form)
    column = column or ("path" if "path" in rows.table.column_names else "topic")
    values = _paths(rows, column, separator)
    first_place = {value: row for row, value in reversed(list(enumerate(values)))}
    again = np.array([first_place[value] != row for row, value in enumerate(values)], bool)
    rows.reject(again, lambda row: f"topic {values[row]!r} again")
    known = {"."}
    if implied:
        for row in set(range(len(values))) - rows.reasons.keys():
            known.update(_supertopics(values[row]))
    for row in sorted(set(range(len(values))) - rows.reasons.keys(), key=lambda row: values[row].count(".")):
        if values[row] == "." or (values[row].rpartition(".")[0] or ".") in known:
            known.add(values[row])
    orphan = np.array([value not in known for value in values], bool)
    rows.reject(orphan, lambda row: f"supertopic of {values[row]!r} is unknown")
    good, rejected = rows.split(on_bad, "topics")
    kept = [value for value, usable in zip(values, good, strict=True) if usable]
    more = {above for value in kept for above in _supertopics(value)} if implied else {"."}
    return sorted(more - set(kept)) + kept, rejected


def _supertopics(path: str) -> list[str]:
    """All topics above one.

    Examples
    --------
    >>> _supertopics(".a.b.c"), _supertopics(".")
    (['.', '.a', '.a.b'], [])
    """
    names = path[1:].split(".") if path != "." else []
    return ["." + ".".join(names[:depth]) for depth in range(len(names))]


def _path(value: Any, separator: str) -> Any:
    """A path written with another separator as ours; names may have dots, and spaces around them."""
    if not isinstance(value, str):
        return value
    names = [name.strip().replace(".", "%2E" if separator != "." else ".") for name in value.split(separator)]
    names = names[1:] if names and not names[0] else names
    return "." + ".".join(names)


def _paths(rows: _Rows, column: str, separator: str | None) -> list[Any]:
    """A column of topics, with those that are no paths rejected."""
    values: list[Any] = _column(rows.table, column).to_pylist()
    if separator:
        values = [_path(value, separator) for value in values]
    formed = [
        isinstance(v, str) and v.startswith(".") and (v == "." or all(v[1:].split("."))) for v in values
    ]
    bad = ~np.array(formed, bool)
    rows.reject(bad, lambda row: f"{column}: expected a path such as .a.b, got {values[row]!r}")
    return values


def _table(source: Source, ragged: dict[int, str], form: TextForm | None) -> pa.Table:
    import pyarrow as pa

    if isinstance(source, str | Path):
        return read_table(Path(source), ragged, form)
    if isinstance(source, pa.Table):
        return source
    # Polars' own conversion keeps NaN apart from what is missing.
    return source.to_arrow() if hasattr(source, "to_arrow") else _of_pandas(source)


def _of_pandas(frame: pd.DataFrame) -> pa.Table:
    """A frame as a table in which NaN stays NaN: a failed computation is no open end of a range."""
    import pandas as pd
    import pyarrow as pa

    def column(series: pd.Series[Any]) -> pa.Array:
        if series.dtype != object:
            floats = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f"
            return pa.array(series.to_numpy(), from_pandas=False) if floats else pa.array(series)
        values = [None if value is None or value is pd.NA else value for value in series]
        try:
            return pa.array(values, from_pandas=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types: numbers in them are read as text
            return pa.array([None if value is None else str(value) for value in values])

    return pa.table({str(name): column(frame[name]) for name in frame.columns})


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise InputError(f"no column {name!r}: expected one of {', '.join(table.column_names)}")
    return table[name]


def _guess_ranges(table: pa.Table) -> Columns:
    names = [name[: -len("_low")] for name in table.column_names if name.endswith("_low")]
    if not names:
        raise InputError("subscriptions: expected columns X_low and X_high, or a mapping of columns")
    return {name: (f"{name}_low", f"{name}_high") for name in names}


def _numbers(table: pa.Table, where: str, what: str, rows: _Rows, empty: float | None) -> Floats:
    """A column as floats; `empty` stands for missing values where they have a meaning."""
    import pyarrow as pa

    column = _column(table, where)
    try:
        values = np.array(column.cast(pa.float64()).to_numpy(), np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = np.array([_number(item) for item in column.to_pylist()])
    inexact = np.isfinite(values) & (np.abs(values) >= _EXACT)
    inexact[inexact] = [_is_rounded(column[row].as_py()) for row in np.flatnonzero(inexact).tolist()]
    missing = column.is_null().to_numpy()
    if empty is not None:
        values[missing] = empty
        usable = ~np.isnan(values)
    else:
        usable = np.isfinite(values)
    rows.reject(~usable, lambda row: f"{what}: expected a finite number, got {column[row].as_py()!r}")
    rows.reject(inexact, lambda row: f"{what}: expected an integer within ±2^53, got {column[row].as_py()}")
    return values


_EXACT = 2.0**53


def _is_rounded(number: Any) -> bool:
    """Whether a number beyond 2^53 is no float already: it may share its float with another one."""
    return not isinstance(number, float) and abs(Decimal(str(number))) > Decimal(_EXACT)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
