"""Foreign tables of subscriptions and events, with any names of columns and typed attributes.

A mapping gives the columns of each attribute: `{"price": ("min_price", "max_price")}` for a range,
`{"price": "price"}` for an exact value or an event. Without it, subscriptions are expected in columns X_low
and X_high and events in columns X, as in `workloads.frames`. A missing end of a range is
open: the range then extends to the end of the axis.

An invalid row (a wrong type, NaN, low > high, a missing value, a line of a CSV file with too few or too many
values) is never dropped silently: it is an error that names the first one with its row number, from 0, and
the reason. `workloads.frames.checked` sets such rows apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Floats
from workloads.folder.attribute_columns import Columns, find_types, guess_ranges
from workloads.folder.pieces import EventTable, SubscriptionTable, Types
from workloads.folder.tables import Rows, Source, TextForm
from workloads.spec.types import FLOAT, Kind, ValueType


def range_tables(
    subscriptions: Rows,
    events: Rows | None,
    columns: Columns | None = None,
    event_columns: Mapping[str, str] | None = None,
    types: Mapping[str, ValueType | Kind] | None = None,
    axes: Mapping[str, tuple[float, float]] | None = None,
    key: str | None = None,
) -> tuple[SubscriptionTable, EventTable | None]:
    """The tables with their columns and types, given or guessed; parameters as of `frames.checked`."""
    columns = columns or guess_ranges(subscriptions)
    for name in event_columns or {}:
        if name not in columns:
            raise InputError(f"column of {name!r}: expected one of the attributes {', '.join(columns)}")
    mapping = {name: (event_columns or {}).get(name, name) for name in columns}
    found = find_types(subscriptions, columns, events, mapping, types)
    points = None if events is None else EventTable(events, mapping, found)
    return SubscriptionTable(subscriptions, columns, found, axes or {}, key), points


def read_subscriptions(
    source: Source,
    columns: Columns | None = None,
    *,
    axes: Mapping[str, tuple[float, float]] | None = None,
    form: TextForm | None = None,
    types: Mapping[str, ValueType | Kind] | None = None,
) -> tuple[list[str], Floats, Floats]:
    """Closed ranges from a table: attribute names, lows, highs. An invalid row is an error.

    Parameters
    ----------
    source : path, pyarrow Table, or DataFrame of pandas or Polars
    columns : mapping, optional
        The columns of each attribute: (low, high), or one column for exact values.
    axes : mapping, optional
        The ends (low, high) of attributes, for open ranges; infinite if not given.
    form : TextForm, optional
        Format of a CSV file.
    types : mapping, optional
        The type of each attribute; guessed from its columns if not given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"min": [1.0, None], "max": [2.0, 4.0]})
    >>> names, lows, highs = read_subscriptions(table, {"price": ("min", "max")})
    >>> names, lows.tolist(), highs.tolist()
    (['price'], [[1.0], [-inf]], [[2.0], [4.0]])
    """
    table, _ = range_tables(Rows(source, form), None, columns, types=types, axes=axes)
    ends = table.valid("subscriptions")
    return list(table.columns), np.stack(ends[::2], axis=1), np.stack(ends[1::2], axis=1)


def read_events(
    source: Source, columns: Mapping[str, str] | list[str], *, types: Types | None = None
) -> Floats:
    """Points from a table, one column per attribute. An invalid row is an error.

    Parameters
    ----------
    columns : mapping or list
        The column of each attribute, in order; a list of names if columns are named like the attributes.
    types : mapping, optional
        The type of each attribute; float if not given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_events(pa.table({"p": ["1.5", "2"]}), {"price": "p"}).tolist()
    [[1.5], [2.0]]
    """
    named = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    table = EventTable(Rows(source), named, types or dict.fromkeys(named, FLOAT))
    return np.stack(table.valid("events"), axis=1)
