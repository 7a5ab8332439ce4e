"""Tables from elsewhere, batch by batch: CSV, Parquet and Arrow files, frames of pandas, Polars and Arrow.

Only one batch of rows is in memory at a time. Values of text files stay text until
`workloads.folder.columns` reads them by an attribute's type: what looks like a number in the first thousand
rows may be a name in the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    Source: TypeAlias = Path | str | pa.Table | pd.DataFrame

Integers = NDArray[np.int64]

_ROWS = 65_536  # of a batch
_BLOCK = 2**22  # bytes of a text file that are a batch
_SUFFIXES = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


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


def _kind(path: Path) -> str:
    """What a file holds, by its name: `.csv` of orders.csv.gz."""
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
    """Some rows of a table, and their numbers, from 0, among all of them."""

    table: pa.RecordBatch
    numbers: Integers

    def column(self, name: str) -> pa.Array:
        """A column, whose name is known to be there."""
        import pyarrow as pa

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
        Lines of a text file with too few or too many values that have been passed by: the row's number, and
        what is wrong with it. They are in no batch.

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

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns; text files have text only."""
        import pyarrow as pa

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
        """The source, in words."""
        return str(self.source) if isinstance(self.source, Path) else type(self.source).__name__

    def require(self, columns: Sequence[str]) -> None:
        """Raise unless there are these columns."""
        for name in columns:
            if name not in self.names:
                raise InputError(f"{self.what}: no column {name!r}, expected one of {', '.join(self.names)}")

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in order, of these columns."""
        import pyarrow as pa

        self.require(columns)
        chosen, next_row = list(dict.fromkeys(columns)), 0
        try:
            for table in self._read(chosen):
                # Lines that were skipped on the way here have numbers too.
                skipped = sum(row >= next_row for row in self.ragged)
                free = np.arange(next_row, next_row + table.num_rows + skipped)
                numbers = free[~np.isin(free, list(self.ragged))][: table.num_rows]
                next_row = int(numbers[-1]) + 1 if len(numbers) else next_row
                yield Batch(table.select(chosen), numbers)
        except (OSError, LookupError, UnicodeError, pa.ArrowInvalid) as failure:
            raise self._refusal(failure) from None

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(self.names)

    def _refusal(self, failure: Exception) -> InputError:
        return InputError(f"{self.what}: {next(iter(str(failure).splitlines()), type(failure).__name__)}")

    def _schema(self) -> pa.Schema:
        import pyarrow as pa
        from pyarrow import dataset, parquet

        if not isinstance(self.source, Path):
            return self._table.schema
        if self.is_text:
            with self._open_csv({}) as reader:
                return pa.schema([(name, pa.string()) for name in reader.schema.names])
        if self.source.is_dir():
            return dataset.dataset(self.source, format="parquet", partitioning="hive").schema
        if self.source.suffix == ".parquet":
            return parquet.read_schema(self.source)
        return self._open_arrow().schema

    @cached_property
    def _table(self) -> pa.Table:
        """A frame as a table."""
        import pyarrow as pa

        if isinstance(self.source, pa.Table):
            return self.source
        # Polars' own conversion keeps NaN apart from what is missing.
        frame: Any = self.source
        return frame.to_arrow() if hasattr(frame, "to_arrow") else _of_pandas(frame)

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import dataset, parquet

        if not isinstance(self.source, Path):
            yield from self._table.select(columns).to_batches(max_chunksize=_ROWS)
        elif self.is_text:
            self.ragged.clear()
            with self._open_csv(dict.fromkeys(self.names, pa.string())) as reader:
                yield from reader
        elif self.source.is_dir():
            options = dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
            verified = dataset.ParquetFileFormat(default_fragment_scan_options=options)
            files = dataset.dataset(self.source, format=verified, partitioning="hive")
            yield from files.to_batches(columns=columns, batch_size=_ROWS)
        elif self.source.suffix == ".parquet":
            with parquet.ParquetFile(self.source, page_checksum_verification=True) as file:
                yield from file.iter_batches(batch_size=_ROWS, columns=columns)
        else:
            file = self._open_arrow()
            for number in range(file.num_record_batches):
                whole = pa.Table.from_batches([file.get_batch(number)])
                yield from whole.to_batches(max_chunksize=_ROWS)

    def _open_arrow(self) -> Any:
        import pyarrow as pa

        return pa.ipc.open_file(pa.memory_map(str(self.source)))

    def _open_csv(self, types: dict[str, Any]) -> Any:
        from pyarrow import csv

        assert isinstance(self.source, Path)
        delimiter = self.form.delimiter or ("\t" if _kind(self.source) == ".tsv" else ",")
        return csv.open_csv(
            self.source,
            # Rows are numbered only where they are read one after the other.
            read_options=csv.ReadOptions(use_threads=False, encoding=self.form.encoding, block_size=_BLOCK),
            parse_options=csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=partial(_note_ragged, self.ragged),
            ),
            # Nothing is missing, but "nan" and "NA" are values.
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        )


def _note_ragged(ragged: dict[int, str], row: Any) -> str:
    # Its number counts lines from 1, and the line of names is one.
    ragged[row.number - 2] = f"expected {row.expected_columns} values, got {row.actual_columns}"
    return "skip"


def _of_pandas(frame: pd.DataFrame) -> pa.Table:
    """Convert a frame to a table. NaN stays NaN: it must not become a missing value, which is an open end."""
    import pandas as pd
    import pyarrow as pa

    def column(series: pd.Series[Any]) -> pa.Array:
        if series.dtype != object:
            floats = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f"
            return pa.array(series.to_numpy(), from_pandas=False) if floats else pa.array(series)
        values = [None if value is None or value is pd.NA else value for value in series]
        try:
            return pa.array(values, from_pandas=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types: numbers in them are read as text
            return pa.array([None if value is None else str(value) for value in values])

    return pa.table({str(name): column(frame[name]) for name in frame.columns})
