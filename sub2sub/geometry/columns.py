"""Reads subscriptions and events, given as rows or as columns, into one array per attribute.

Rows are a sequence of mappings, one per subscription or event. Columns are a mapping of arrays, a pandas
DataFrame or an Arrow table. Columns must be arrays, so that a single subscription ``{"price": (10, 20)}`` is
not mistaken for a table of two rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError

Column = NDArray[Any]


def values_by_attribute(rows: Any, names: Sequence[str], what: str) -> dict[str, Column]:
    """The values of events: one column per attribute, None where a row has no value.

    Examples
    --------
    >>> values_by_attribute([{"a": 1}, {"a": 2}], ["a"], "events")
    {'a': array([1, 2], dtype=object)}
    """
    columns = _columns(rows, what)
    if columns is None:
        columns = _gather(rows, names, what)
    else:
        _refuse_unknown(columns, names, f"{what}: column")
        for name in names:
            if name not in columns:
                raise InputError(f"{what}: expected a column {name!r}, got {', '.join(columns)}")
    return columns


def ends_by_attribute(rows: Any, names: Sequence[str], what: str) -> dict[str, tuple[Column, Column]]:
    """The ends of subscriptions' ranges: two columns per attribute, None for an open end.

    Examples
    --------
    >>> ends_by_attribute([{"a": (1, None)}, {}], ["a"], "subscriptions")
    {'a': (array([1, None], dtype=object), array([None, None], dtype=object))}
    """
    columns = _columns(rows, what)
    if columns is None:
        return {
            name: _pairs(predicates, name, what) for name, predicates in _gather(rows, names, what).items()
        }
    _refuse_unknown(
        columns, [name + end for name in names for end in ("", "_low", "_high")], f"{what}: column"
    )
    if not columns:
        raise InputError(f"{what}: expected at least one column")
    wildcards = np.full(len(next(iter(columns.values()))), None)
    ends = {}
    for name in names:
        low, high = name + "_low", name + "_high"
        if name in columns and (low in columns or high in columns):
            raise InputError(f"{what}: expected a column {name!r} or columns {low!r} and {high!r}, got both")
        exact = columns.get(name, wildcards)
        ends[name] = columns.get(low, exact), columns.get(high, exact)
    return ends


def _columns(rows: Any, what: str) -> dict[str, Column] | None:
    """The columns of a table; None if `rows` is not a table."""
    if hasattr(rows, "column_names"):
        names = list(rows.column_names)
    elif hasattr(rows, "keys"):
        names = list(rows.keys())
    else:
        return None
    columns = {}
    for name in names:
        if not hasattr(rows[name], "__array__"):
            kind = type(rows[name]).__name__
            raise InputError(
                f"{what}: expected a list of rows or columns that are arrays, {name!r} is a {kind}"
            )
        column = rows[name]
        if isinstance(column, np.ma.MaskedArray):  # a masked value is a missing one
            values = column.data.astype(object)
            values[np.ma.getmaskarray(column)] = None
            column = values
        columns[str(name)] = np.asarray(column)
    for name, column in columns.items():
        if column.ndim != 1 or len(column) != len(next(iter(columns.values()))):
            raise InputError(f"{what}: expected columns of one length, {name!r} has shape {column.shape}")
    return columns


def _gather(rows: Iterable[Mapping[str, Any]], names: Sequence[str], what: str) -> dict[str, Column]:
    """The value of each attribute in each row, None where the row has none."""
    rows = list(rows)
    known = frozenset(names)
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"{what} row {i}: expected a mapping of attributes, got {type(row).__name__}")
        if not row.keys() <= known:
            _refuse_unknown(row, names, f"{what} row {i}: attribute")
    return {name: _objects([row.get(name) for row in rows]) for name in names}


def _pairs(predicates: Column, name: str, what: str) -> tuple[Column, Column]:
    lows, highs = predicates.copy(), predicates.copy()
    for row, predicate in enumerate(predicates):
        if isinstance(predicate, tuple | list):
            if len(predicate) != 2:
                got = f"got {predicate!r}"
                raise InputError(f"{what} row {row}, attribute {name!r}: expected a pair (low, high), {got}")
            lows[row], highs[row] = predicate
    return lows, highs


def _objects(values: Sequence[Any]) -> Column:
    """An array of objects: NumPy would convert booleans to numbers and numbers to strings."""
    return np.fromiter(values, object, len(values))


def _refuse_unknown(given: Iterable[str], known: Sequence[str], where: str) -> None:
    for name in given:
        if name not in known:
            nearest = get_close_matches(str(name), known, 1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"known are {', '.join(known)}"
            raise InputError(f"{where} {name!r} is not in the space: {hint}")
