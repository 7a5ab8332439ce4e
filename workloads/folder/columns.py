"""Conversion of foreign columns to coordinates, by the type of the attribute; guessing that type.

Wrong values (of another type, NaN, integers that a float would round) and missing values are marked
separately; the caller decides what each of them means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workloads.folder.tables import Rows, TextForm
from workloads.spec.types import Kind, ValueType

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_EXACT = 2.0**53
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_SEEN = 1000  # values by which a type is guessed


class Coordinates(NamedTuple):
    """Coordinates of a column, and which rows have a wrong value or none."""

    values: Floats
    wrong: Mask
    missing: Mask


def coordinates(
    column: pa.Array, kind: ValueType, form: TextForm, *, named: bool, open_end: float = np.nan
) -> Coordinates:
    """Coordinates of a column's values.

    Parameters
    ----------
    named : bool
        Whether the values are those of subscriptions (else of events).
    open_end : float, optional
        Infinity that is allowed as a value: the open end of a range.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = coordinates(pa.array(["7", "x", None]), ValueType("int"), TextForm(), named=True)
    >>> found.values[0], found.wrong.tolist(), found.missing.tolist()
    (np.float64(7.0), [False, True, False], [False, False, True])
    """
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if kind.kind in ("float", "int"):
        values = _numbers(column, form)
        wrong = (~np.isfinite(values) & (values != open_end)) | _rounded(column, values)
        if kind.kind == "int":
            wrong |= np.floor(values) != values
    else:
        values, wrong = _by_value(column, kind, named)
    return Coordinates(values, wrong & ~missing, missing)


def _by_value(column: pa.Array, kind: ValueType, named: bool) -> tuple[Floats, Mask]:
    """Convert each distinct value once, by the library's attribute type."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type) and kind.kind in ("timestamp", "date"):
        found, valid = kind.attribute.coordinates(column.to_numpy(zero_copy_only=False), named)
        return found, ~valid
    encoded = column.dictionary_encode()
    different = encoded.dictionary.to_pylist()
    if kind.is_text:
        different = [None if value is None else _text(value) for value in different]
    elif kind.kind == "bool":
        different = [value if isinstance(value, bool) else _word(value) for value in different]
    values = np.empty(len(different), object)
    values[:] = different
    found, valid = kind.attribute.coordinates(values, named)
    places = encoded.indices.fill_null(len(different)).to_numpy(zero_copy_only=False)
    return np.append(found, np.nan)[places], np.append(~valid, False)[places]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _word(value: Any) -> bool | None:
    return _WORDS.get(str(value).strip().lower())


def _numbers(column: pa.Array, form: TextForm) -> Floats:
    """Numbers; NaN where there is none."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _plain(column, form)
    elif pa.types.is_boolean(column.type) or pa.types.is_temporal(column.type):
        return np.full(len(column), np.nan)  # a truth value is no number
    try:
        return np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.array([_number(item) for item in column.to_pylist()], np.float64)


def _plain(column: pa.Array, form: TextForm) -> pa.Array:
    """Numbers that are text, as Python writes them."""
    from pyarrow import compute

    if not form.thousands and form.decimal == ".":
        return column
    thousands, decimal = re.escape(form.thousands), re.escape(form.decimal)
    pattern = rf"^\s*[-+]?\d[\d{thousands}]*({decimal}\d*)?([eE][-+]?\d+)?\s*$"
    plain = compute.replace_substring(column, form.thousands, "") if form.thousands else column
    plain = compute.replace_substring(plain, form.decimal, ".")
    return compute.if_else(compute.match_substring_regex(column, pattern), plain, column)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _rounded(column: pa.Array, values: Floats) -> Mask:
    """Which numbers are beyond 2^53 and would be rounded to a float."""
    large = np.isfinite(values) & (np.abs(values) >= _EXACT)
    large[large] = [_is_rounded(column[row].as_py()) for row in np.flatnonzero(large).tolist()]
    return large


def _is_rounded(number: Any) -> bool:
    if isinstance(number, float) or (isinstance(number, str) and re.search(r"[.eE]", number)):
        return False
    return abs(Decimal(str(number))) > Decimal(_EXACT)


def distinct(rows: Rows, columns: Sequence[str]) -> tuple[str, ...]:
    """All different values of some columns, as text, in order."""
    found: set[str] = set()
    for batch in rows.batches(columns):
        for name in columns:
            found.update(_text(v) for v in batch.column(name).unique().to_pylist() if v is not None)
    return tuple(sorted(found))


def guess_kind(rows: Rows, columns: Sequence[str]) -> Kind:
    """Guess the common type of some columns, from their own types or, for text, from their first values.

    A text column with at least one number is a column of numbers, so that one wrong value does not turn all
    others into names.
    """
    kinds = {_guess(rows, name) for name in columns} - {None}
    if len(kinds) == 1:
        return kinds.pop() or "float"
    return "timestamp" if kinds == {"date", "timestamp"} else "float"


def _guess(rows: Rows, column: str) -> Kind | None:
    import pyarrow as pa

    rows.require([column])
    kind = rows.schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind):
        return "int"
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return "float"
    seen: list[str] = []
    for batch in rows.batches([column]):
        seen += batch.column(column).drop_null().slice(0, _SEEN - len(seen)).to_pylist()
        if len(seen) >= _SEEN:
            break
    return _guess_text(seen, rows.form)


def _guess_text(seen: list[str], form: TextForm) -> Kind | None:
    """Guess the type of text values; None if there are no values.

    Examples
    --------
    >>> [_guess_text([value], TextForm()) for value in ("7", "true", "2026-11-17", "Rome")]
    ['float', 'bool', 'date', 'string']
    """
    import pyarrow as pa

    if not seen:
        return None
    numbers = _numbers(pa.array(seen, pa.string()), form)
    if not np.isnan(numbers).all() or any(value.strip().lower() == "nan" for value in seen):
        return "float"
    if all(value.strip().lower() in ("true", "false") for value in seen):
        return "bool"
    if all(_DAY.fullmatch(value) for value in seen):
        return "date"
    return "timestamp" if all(_MOMENT.fullmatch(value) for value in seen) else "string"
