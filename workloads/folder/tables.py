"""Foreign tables: CSV, Parquet and Arrow files, frames of pandas, Polars and Arrow.

Values of text files stay text until
`workloads.folder.columns` converts them by an attribute's type: a column that looks like numbers in the first
thousand rows may contain a name in the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import csv, dataset

from sub2sub.errors import InputError
from workloads.arrays import Integers

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "Path | str | pa.Table | pd.DataFrame"

_SUFFIXES = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


@dataclass(frozen=True)
class TextForm:
    """Format of a text table.

    Attributes
    ----------
    delimiter : str, optional
        Character between values; by default a tab in .tsv files and a comma in others.
    decimal, thousands : str
        Decimal point and thousands separator: "," and "." in "1.234,5".
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

    def delimiter_of(self, source: str, kind: str) -> str:
        """The character between the values of a file of a kind such as ".tsv"; not the decimal point."""
        delimiter = self.delimiter or ("\t" if kind == ".tsv" else ",")
        if delimiter == self.decimal:
            raise InputError(f"{source}: delimiter and decimal are both {delimiter!r}: expected two")
        return delimiter


def _kind(path: Path) -> str:
    """The suffix that tells the format: `.csv` for orders.csv.gz."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def is_table(path: Path) -> bool:
    """Whether a file name has the suffix of a table.

    Examples
    --------
    >>> is_table(Path("orders.csv.gz")), is_table(Path("orders.toml"))
    (True, False)
    """
    return _kind(path) in _SUFFIXES


@dataclass(frozen=True)
class Batch:
    """Some rows of a table, and their row numbers from 0."""

    table: pa.RecordBatch | pa.Table
    numbers: Integers

    def column(self, name: str) -> pa.Array:
        """A column by its name."""
        column = self.table.column(name)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


class Rows:
    """The rows of a table, which can be read any number of times.

    Parameters
    ----------
    source : path, pyarrow Table, or DataFrame of pandas or Polars
        A file (.csv, .tsv, also .gz; .parquet, .arrow, .feather) or a folder of Parquet files.
    form : TextForm, optional
        Of .csv and .tsv files.

    Attributes
    ----------
    ragged : dict
        Rows of a text file with too few or too many values: the row number, and the error.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = Rows(pa.table({"x": [1, 2]}))
    >>> rows.names, rows.batch(["x"]).numbers.tolist()
    (['x'], [0, 1])
    """

    def __init__(self, source: Source, form: TextForm | None = None) -> None:
        self.source = Path(source) if isinstance(source, str) else source
        self.form = form or TextForm()
        self.ragged: dict[int, str] = {}
        path = self.source if isinstance(self.source, Path) else None
        self.is_text = path is not None and not path.is_dir() and _kind(path) in (".csv", ".tsv")
        if path is not None and not path.is_dir() and not is_table(path):
            raise InputError(f"{path}: expected a .csv, .tsv, .csv.gz, .parquet, .arrow or .feather file")
        if path is not None and not path.exists():
            raise InputError(f"{path}: there is no such file")

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns; in text files, all are text."""
        try:
            schema = self._schema()
        except (OSError, LookupError, UnicodeError, pa.ArrowInvalid) as failure:
            raise self._refusal(failure) from None
        if len(set(schema.names)) < len(schema.names):
            twice = next(name for name in schema.names if schema.names.count(name) > 1)
            raise InputError(f"{self.what}: expected each column once, got {twice!r} twice")
        return schema

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    @property
    def what(self) -> str:
        """The source, for error messages."""
        return str(self.source) if isinstance(self.source, Path) else type(self.source).__name__

    def require(self, columns: Sequence[str]) -> None:
        """Raise unless there are these columns."""
        given = [name for name in self.names if not name.startswith("_")]  # others are the reader's own
        for name in columns:
            if name not in self.names:
                raise InputError(f"{self.what}: no column {name!r}, expected one of {', '.join(given)}")

    def batch(self, columns: Sequence[str]) -> Batch:
        """These columns of all rows."""
        self.require(columns)
        table = self.table.select(list(dict.fromkeys(columns)))
        # Rows that the reader has skipped have numbers, too.
        free = np.arange(table.num_rows + len(self.ragged))
        return Batch(table, free[~np.isin(free, list(self.ragged))])

    @cached_property
    def table(self) -> pa.Table:
        """All rows in memory."""
        _ = self.schema  # refuses what cannot be read
        try:
            return self._read_csv() if self.is_text else self._data.to_table()
        except (OSError, LookupError, UnicodeError, pa.ArrowInvalid) as failure:
            raise self._refusal(failure) from None

    def first_values(self, column: str, most: int) -> list[Any]:
        """The first values of a column, without nulls."""
        found: list[Any] = self.table.column(column).drop_null().slice(0, most).to_pylist()
        return found

    def distinct(self, column: str) -> list[Any]:
        """The distinct values of a column."""
        found: list[Any] = self.table.column(column).unique().to_pylist()
        return found

    def _refusal(self, failure: Exception) -> InputError:
        if isinstance(failure, UnicodeError):
            return InputError(f"{self.what}: expected text in {self.form.encoding}; --encoding names another")
        text = next(iter(str(failure).splitlines()), type(failure).__name__)
        # Arrow's message begins with the name of the file.
        reason = text.rpartition(f"{self.what}': ")[2]
        return InputError(f"{self.what}: {reason}")

    def _schema(self) -> pa.Schema:
        if not self.is_text:
            return self._data.schema
        with csv.open_csv(self.source, **self._csv_options({})) as reader:
            return pa.schema([(name, pa.string()) for name in reader.schema.names])

    def _read_csv(self) -> pa.Table:
        self.ragged.clear()
        return csv.read_csv(self.source, **self._csv_options(dict.fromkeys(self.names, pa.string())))

    @cached_property
    def _data(self) -> dataset.Dataset:
        """A frame, or files of Parquet or Arrow."""
        frame: Any = self.source
        if isinstance(frame, pa.Table):
            return dataset.dataset(frame)
        if not isinstance(frame, Path):
            # Polars' own conversion distinguishes NaN from missing values.
            return dataset.dataset(frame.to_arrow() if hasattr(frame, "to_arrow") else _of_pandas(frame))
        options = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
        verified = dataset.ParquetFileFormat(default_fragment_scan_options=options)
        if frame.is_dir():
            return dataset.dataset(frame, format=verified, partitioning="hive")
        return dataset.dataset(frame, format=verified if frame.suffix == ".parquet" else "ipc")

    def _csv_options(self, types: dict[str, Any]) -> dict[str, Any]:
        assert isinstance(self.source, Path)
        return {
            # The handler of invalid rows gets row numbers only without threads.
            "read_options": csv.ReadOptions(use_threads=False, encoding=self.form.encoding),
            "parse_options": csv.ParseOptions(
                delimiter=self.form.delimiter_of(str(self.source), _kind(self.source)),
                newlines_in_values=True,
                invalid_row_handler=partial(_note_ragged, self.ragged),
            ),
            # Empty values are missing; "nan" and "NA" are not.
            "convert_options": csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        }


def _note_ragged(ragged: dict[int, str], row: Any) -> str:
    # row.number counts lines from 1, including the header.
    ragged[row.number - 2] = f"expected {row.expected_columns} values, got {row.actual_columns}"
    return "skip"


def _of_pandas(frame: pd.DataFrame) -> pa.Table:
    """Convert a frame to a table. NaN must not become a missing value, because that means an open end."""
    import pandas as pd

    def column(series: pd.Series[Any]) -> pa.Array:
        if series.dtype != object:
            floats = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f"
            return pa.array(series.to_numpy(), from_pandas=False) if floats else pa.array(series)
        values = [None if value is None or value is pd.NA else value for value in series]
        try:
            return pa.array(values, from_pandas=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several types: all become text
            return pa.array([None if value is None else str(value) for value in values])

    return pa.table({str(name): column(frame[name]) for name in frame.columns})
