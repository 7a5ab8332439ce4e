"""Tables in CSV, Parquet and Arrow files, read by one function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TextForm", "read_columns", "read_table"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TextForm:
    """How a table of text is written.

    Attributes
    ----------
    delimiter : str, optional
        Between values; a tab in .tsv files and a comma in others if not given.
    decimal, thousands : str
        In numbers: "1.234,5" has "," and ".".
    encoding : str
    """

    delimiter: str | None = None
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        for name in ("delimiter", "decimal"):
            if (value := getattr(self, name)) is not None and len(value) != 1:
                raise InputError(f"{name} = {value!r}: expected one character")
        if self.thousands == self.decimal:
            raise InputError(f"thousands = {self.thousands!r}: expected another character than for decimals")


def read_table(path: Path, ragged: dict[int, str] | None = None, form: TextForm | None = None) -> pa.Table:
    """The table in a file (.csv, .tsv, also .gz; .parquet, .arrow, .feather) or in a folder of Parquet files.

    Parameters
    ----------
    form : TextForm, optional
        Of .csv and .tsv files.
    ragged : dict, optional
        Where lines of a CSV file that have too few or too many values go: the row's number, and what is
        wrong. Without it they are refused.
    """
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    try:
        if path.is_dir() or path.suffix == ".parquet":
            return parquet.read_table(path)
        kind = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
        if kind in (".csv", ".tsv"):
            form = form or TextForm()
            handler = None if ragged is None else partial(_note_ragged, ragged)
            delimiter = form.delimiter or ("\t" if kind == ".tsv" else ",")
            table = csv.read_csv(
                path,
                # Rows are numbered only where they are read one after the other.
                read_options=csv.ReadOptions(use_threads=ragged is None, encoding=form.encoding),
                parse_options=csv.ParseOptions(delimiter=delimiter, invalid_row_handler=handler),
                # Nothing is missing, but "nan" and "NA" are no numbers.
                convert_options=csv.ConvertOptions(
                    null_values=[""], strings_can_be_null=True, decimal_point=form.decimal
                ),
            )
            return _with_plain_numbers(table, form)
        if path.suffix in (".arrow", ".feather"):
            return feather.read_table(path)
    except (OSError, LookupError, UnicodeError, pa.ArrowInvalid) as failure:
        raise InputError(f"{path}: {str(failure).splitlines()[0]}") from None
    raise InputError(f"{path}: expected a .csv, .tsv, .csv.gz, .parquet, .arrow or .feather file")


def _with_plain_numbers(table: pa.Table, form: TextForm) -> pa.Table:
    """The same table, with numbers that are still text as Python writes them."""
    import pyarrow as pa
    from pyarrow import compute

    if not form.thousands and form.decimal == ".":
        return table
    thousands, decimal = re.escape(form.thousands), re.escape(form.decimal)
    pattern = rf"^\s*[-+]?\d[\d{thousands}]*({decimal}\d*)?([eE][-+]?\d+)?\s*$"
    for place, name in enumerate(table.column_names):
        column = table[name]
        if pa.types.is_string(column.type):
            plain = compute.replace_substring(column, form.thousands, "") if form.thousands else column
            plain = compute.replace_substring(plain, form.decimal, ".")
            number = compute.match_substring_regex(column, pattern)
            table = table.set_column(place, name, compute.if_else(number, plain, column))
    return table


def _note_ragged(ragged: dict[int, str], row: Any) -> str:
    # Its number counts lines from 1, and the line of names is one.
    ragged[row.number - 2] = f"expected {row.expected_columns} values, got {row.actual_columns}"
    return "skip"


def read_columns(path: Path, names: Sequence[str]) -> list[Floats]:
    """Columns of numbers from a file, refusing what is missing, not a number or not finite."""
    import pyarrow as pa

    table = read_table(path)
    columns = []
    for name in names:
        if name not in table.column_names:
            raise InputError(f"{path}: no column {name!r}, expected one of {', '.join(table.column_names)}")
        try:
            column = table[name].cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            raise InputError(f"{path}, column {name!r}: expected numbers") from None
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            raise InputError(f"{path}, column {name!r}, row {bad[0]}: expected a finite number")
        columns.append(column)
    return columns
