"""Foreign tables, read in batches: CSV, Parquet and Arrow files, frames of pandas, Polars and Arrow.

Only one batch of rows is in memory at a time. Values of text files stay text until
`workloads.folder.columns` converts them by an attribute's type: a column that looks like numbers in the first
thousand rows may contain a name in the last.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
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

_ROWS = 65_536  # of a batch
_BLOCK = 2**22  # bytes of a text file that are a batch
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

    table: pa.RecordBatch
    numbers: Integers

    def column(self, name: str) -> pa.Array:
        """A column by its name."""
        column = self.table.column(name)
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
        Rows of a text file with too few or too many values: the row number, and the error. They are in no
        batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = Rows(pa.table({"x": [1, 2]}))
    >>> rows.names, [batch.numbers.tolist() for batch in rows]
    (['x'], [[0, 1]])
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

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """These columns of all rows, in order; a table without rows is one empty batch."""
        self.require(columns)
        chosen, next_row = list(dict.fromkeys(columns)), 0
        empty = pa.RecordBatch.from_pylist([], pa.schema([self.schema.field(name) for name in chosen]))
        tables = self._read(chosen)
        try:
            for table in itertools.chain([next(tables, None) or empty], tables):
                # Rows that the reader has skipped have numbers, too.
                skipped = sum(row >= next_row for row in self.ragged)
                free = np.arange(next_row, next_row + table.num_rows + skipped)
                numbers = free[~np.isin(free, list(self.ragged))][: table.num_rows]
                next_row = int(numbers[-1]) + 1 if len(numbers) else next_row
                yield Batch(table.select(chosen), numbers)
        except (OSError, LookupError, UnicodeError, pa.ArrowInvalid) as failure:
            raise self._refusal(failure) from None

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(self.names)

    def table(self) -> pa.Table:
        """All rows in memory."""
        return pa.Table.from_batches([batch.table for batch in self])

    def first_values(self, column: str, most: int) -> list[Any]:
        """The first values of a column, without nulls."""
        seen: list[Any] = []
        for batch in self.batches([column]):
            seen += batch.column(column).drop_null().slice(0, most - len(seen)).to_pylist()
            if len(seen) >= most:
                break
        return seen

    def distinct(self, column: str) -> list[Any]:
        """The distinct values of a column."""
        different = {}
        for batch in self.batches([column]):
            different.update(dict.fromkeys(batch.column(column).unique().to_pylist()))
        return list(different)

    def _refusal(self, failure: Exception) -> InputError:
        text = next(iter(str(failure).splitlines()), type(failure).__name__)
        # Arrow's message begins with the name of the file.
        reason = text.rpartition(f"{self.what}': ")[2]
        return InputError(f"{self.what}: {reason}")

    def _schema(self) -> pa.Schema:
        if not self.is_text:
            return self._data.schema
        with self._open_csv({}) as reader:
            return pa.schema([(name, pa.string()) for name in reader.schema.names])

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        if self.is_text:
            self.ragged.clear()
            with self._open_csv(dict.fromkeys(self.names, pa.string())) as reader:
                yield from reader
        else:
            yield from self._data.to_batches(columns=columns, batch_size=_ROWS)

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

    def _open_csv(self, types: dict[str, Any]) -> Any:
        assert isinstance(self.source, Path)
        delimiter = self.form.delimiter_of(str(self.source), _kind(self.source))
        return csv.open_csv(
            self.source,
            # The handler of invalid rows gets row numbers only without threads.
            read_options=csv.ReadOptions(use_threads=False, encoding=self.form.encoding, block_size=_BLOCK),
            parse_options=csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=partial(_note_ragged, self.ragged),
            ),
            # Empty values are missing; "nan" and "NA" are not.
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        )


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
