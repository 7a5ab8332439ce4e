"""Parquet files with a checksum for each page, verified when they are read.

Without checksums, a bit that flips on a disk or in transit changes a number silently; with them, reading
fails and the error names the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sub2sub.errors import InputError
from workloads.files.places import contents

if TYPE_CHECKING:
    import pyarrow as pa


def write_parquet(table: pa.Table, path: Path, **options: Any) -> None:
    """Write a table with checksums; options as of `pyarrow.parquet.write_table`."""
    from pyarrow import parquet

    parquet.write_table(table, path, write_page_checksum=True, **options)


def read_parquet(path: Path, **options: Any) -> pa.Table:
    """Read a table; options as of `pyarrow.parquet.read_table`.

    Raises
    ------
    InputError
        For a file that is damaged, or is no Parquet file.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "numbers.parquet"
    ...     write_parquet(pa.table({"x": [1, 2]}), file)
    ...     read_parquet(file)["x"].to_pylist()
    [1, 2]
    """
    from pyarrow import parquet

    with _named(path):
        return parquet.read_table(contents(path), page_checksum_verification=True, **options)


def read_schema(path: Path) -> pa.Schema:
    """Names and types of the columns of a file."""
    from pyarrow import parquet

    with _named(path):
        return parquet.read_schema(contents(path))


def read_groups(path: Path, groups: list[int], columns: list[str]) -> pa.Table:
    """Read some columns of some row groups of a file, with the same verification."""
    from pyarrow import parquet

    with _named(path), parquet.ParquetFile(contents(path), page_checksum_verification=True) as file:
        return file.read_row_groups(groups, columns=columns)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the damaged file in errors."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path}: expected a whole Parquet file, it is damaged: {reason}") from None
