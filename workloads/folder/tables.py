"""Tables in CSV, Parquet and Arrow files, read by one function."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_columns", "read_table"]

Floats = NDArray[np.float64]


def read_table(path: Path, ragged: dict[int, str] | None = None) -> pa.Table:
    """The table in a file (.csv, .parquet, .arrow, .feather) or in a folder of Parquet files.

    Parameters
    ----------
    ragged : dict, optional
        Where lines of a CSV file that have too few or too many values go: the row's number, and what is
        wrong. Without it they are refused.
    """
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    try:
        if path.is_dir() or path.suffix == ".parquet":
            return parquet.read_table(path)
        if path.suffix == ".csv":
            handler = None if ragged is None else partial(_note_ragged, ragged)
            return csv.read_csv(
                path,
                # Rows are numbered only where they are read one after the other.
                read_options=csv.ReadOptions(use_threads=ragged is None),
                parse_options=csv.ParseOptions(invalid_row_handler=handler),
                # Nothing is missing, but "nan" and "NA" are no numbers.
                convert_options=csv.ConvertOptions(null_values=[""], strings_can_be_null=True),
            )
        if path.suffix in (".arrow", ".feather"):
            return feather.read_table(path)
    except (OSError, pa.ArrowInvalid) as failure:
        raise InputError(f"{path}: {str(failure).splitlines()[0]}") from None
    raise InputError(f"{path}: expected a .csv, .parquet, .arrow or .feather file")


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
