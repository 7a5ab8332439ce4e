"""Which columns of a foreign table hold which attribute, and the types of attributes."""

from __future__ import annotations

from collections.abc import Mapping

from sub2sub.errors import InputError
from workloads.folder.columns import distinct, guess_kind
from workloads.folder.tables import Rows
from workloads.spec.types import Kind, ValueType

Columns = Mapping[str, str | tuple[str, str]]


def find_types(
    subscriptions: Rows,
    columns: Columns,
    events: Rows | None = None,
    event_columns: Mapping[str, str] | None = None,
    given: Mapping[str, ValueType | Kind] | None = None,
) -> dict[str, ValueType]:
    """The type of each attribute: the given one, or a guess from its columns.

    The values of a string or enum, if not given, are those in the subscriptions; for an enum also those in
    the events.

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
                # An attribute is an int only if its events are whole numbers, too.
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
