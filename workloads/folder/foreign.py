"""Subscriptions and events from elsewhere: tables of any form and any names of columns, of typed attributes.

A mapping says which columns hold an attribute: `{"price": ("min_price", "max_price")}` for a range,
`{"price": "price"}` for an exact value or for an event. Without one, subscriptions are expected in columns
X_low and X_high and events in columns X, as `workloads.folder.layout` writes them. An empty end of a range
is open: it reaches to the end of the axis.

A row that cannot be used (a wrong type, NaN, low > high, an empty value, a line of a CSV file with too few or
too many values) is counted and kept aside with its row number, from 0, and reason, or refused, as the caller
chooses; never dropped in silence. Tables are read in batches (`workloads.folder.tables`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workloads.folder.attribute_columns import Columns, find_types, guess_ranges
from workloads.folder.pieces import EventTable, SubscriptionTable, Types, gather
from workloads.folder.rejected import OnBad, Rejected
from workloads.folder.tables import Rows, TextForm
from workloads.spec.types import FLOAT, Kind, ValueType

if TYPE_CHECKING:
    from workloads.folder.tables import Source

Floats = NDArray[np.float64]


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
        Attribute to its type; guessed from its columns if not given.

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
