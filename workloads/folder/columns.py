"""Converts foreign columns to coordinates by the type of the attribute, and guesses that type.

Wrong values (of another type, NaN, integers that a float would round) and missing values are marked
separately; the caller decides how to treat them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute

from workloads.arrays import Floats, Mask
from workloads.folder.tables import Rows, TextForm
from workloads.spec.types import Kind, ValueType

_EXACT = 2.0**53
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_SEEN = 1000  # values from which a type is guessed
_TYPES: dict[Callable[[Any], bool], Kind] = {
    pa.types.is_integer: "int", pa.types.is_boolean: "bool", pa.types.is_date: "date",
    pa.types.is_timestamp: "timestamp",
}  # fmt: skip


class Coordinates(NamedTuple):
    """Coordinates of a column, and which rows have a wrong or a missing value."""

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
        Whether the values are from subscriptions, not from events.
    open_end : float, optional
        The infinity that is allowed as a value, for the open end of a range.

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
    """Convert each distinct value once, with the library's attribute type."""
    if pa.types.is_temporal(column.type) and kind.kind in ("timestamp", "date"):
        found, valid = kind.attribute.coordinates(column.to_numpy(zero_copy_only=False), named)
        return found, ~valid
    encoded = column.dictionary_encode()
    different = encoded.dictionary.to_pylist()
    if kind.is_text:
        different = [None if value is None else _text(value) for value in different]
    elif kind.kind == "bool":
        different = [_WORDS.get(str(value).strip().lower()) for value in different]
    values = np.empty(len(different), object)
    values[:] = different
    found, valid = kind.attribute.coordinates(values, named)
    places = encoded.indices.fill_null(len(different)).to_numpy(zero_copy_only=False)
    return np.append(found, np.nan)[places], np.append(~valid, False)[places]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers(column: pa.Array, form: TextForm) -> Floats:
    """Numbers; NaN for values that are not numbers."""
    if _is_string(column.type):
        column = _plain(column, form)
    elif pa.types.is_boolean(column.type) or pa.types.is_temporal(column.type):
        return np.full(len(column), np.nan)
    try:
        return np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.array([_number(item) for item in column.to_pylist()], np.float64)


def _plain(column: pa.Array, form: TextForm) -> pa.Array:
    """Texts of numbers, in Python's format."""
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
    """Which numbers are beyond 2^53, so that a float would round them."""
    large = np.isfinite(values) & (np.abs(values) >= _EXACT)
    large[large] = [_is_rounded(column[row].as_py()) for row in np.flatnonzero(large).tolist()]
    return large


def _is_rounded(number: Any) -> bool:
    if isinstance(number, float) or (isinstance(number, str) and re.search(r"[.eE]", number)):
        return False
    return abs(Decimal(str(number))) > Decimal(_EXACT)


def distinct(rows: Rows, columns: Sequence[str]) -> tuple[str, ...]:
    """The distinct values of some columns, as text, sorted."""
    found = {_text(value) for name in columns for value in rows.distinct(name) if value is not None}
    return tuple(sorted(found))


def guess_kind(rows: Rows, columns: Sequence[str]) -> Kind:
    """Guess the common type of some columns from their types or, for text, from their first values.

    A text column with at least one number is a column of numbers, so that a wrong value is reported as wrong
    and does not turn all others into strings.
    """
    kinds = {_guess(rows, name) for name in columns} - {None}
    if len(kinds) == 1:
        return kinds.pop() or "float"
    return "timestamp" if kinds == {"date", "timestamp"} else "float"


def _guess(rows: Rows, column: str) -> Kind | None:
    rows.require([column])
    kind = rows.schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    for is_kind, guess in _TYPES.items():
        if is_kind(kind):
            return guess
    if not _is_string(kind):
        return "float"
    return _guess_text(rows.first_values(column, _SEEN), rows.form)


def _guess_text(seen: list[str], form: TextForm) -> Kind | None:
    """Guess the type of text values; None if there are no values.

    Examples
    --------
    >>> [_guess_text([value], TextForm()) for value in ("7", "true", "2026-11-17", "Rome")]
    ['float', 'bool', 'date', 'string']
    """
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
