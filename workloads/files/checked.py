"""Digests of files and settings; Parquet files with checksums of all bytes, verified when they are read.

Without checksums, a bit that flips on a disk or in transit changes a number silently; with them, reading
fails and the error names the file. Parquet has a checksum for each page, but none for the footer, which holds
the offsets and types of the pages. So a digest of the footer is written right before the footer. Other
readers ignore it, because offsets count from the start of the file. Files without such a digest are read
without this check.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sub2sub.errors import InputError

MARK, MAGIC = b"sub2sub footer digest:", b"PAR1"
DIGEST = 32  # bytes
TAIL = 8  # bytes at the end: length of the footer, and MAGIC
NAME = b"sub2sub table"  # in the metadata: under which name it was written


def write_parquet(table: pa.Table, path: Path, name: str = "", **options: Any) -> None:
    """Write a table with checksums; options as of `pyarrow.parquet.write_table`.

    With a name, a reader that gives the same one notices when another table is in its place.
    """
    if name:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), NAME: name.encode()})
    parquet.write_table(table, path, write_page_checksum=True, **options)
    with path.open("r+b") as file:
        start, footer = _footer(file)
        file.seek(start)
        file.write(MARK + hashlib.blake2b(footer, digest_size=DIGEST).digest() + footer)


def read_parquet(path: Path, name: str = "", **options: Any) -> pa.Table:
    """Read a table; options as of `pyarrow.parquet.read_table`.

    Raises
    ------
    InputError
        For a file that is damaged, is no Parquet file, or was written under another name than the given one.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "numbers.parquet"
    ...     write_parquet(pa.table({"x": [1, 2]}), file)
    ...     read_parquet(file)["x"].to_pylist()
    [1, 2]
    """
    with _named(path):
        _verify_footer(path)
        table = parquet.read_table(path, page_checksum_verification=True, **options)
        _ = table.column_names  # raises if names are not valid text, in a damaged file without a digest
    metadata = dict(table.schema.metadata or {})
    written = metadata.pop(NAME, b"").decode(errors="replace")
    if name and written not in ("", name):
        raise InputError(f"{path}: expected the table {name!r}, it is {written!r}")
    return table.replace_schema_metadata(metadata or None) if written else table


def _footer(file: Any) -> tuple[int, bytes]:
    """Offset of the footer of an open file, and its bytes up to the end of the file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read()
    start = size - TAIL - int.from_bytes(tail[:4], "little")
    if len(tail) < TAIL or tail[4:] != MAGIC or start < 0:
        raise pa.ArrowInvalid("its end is missing")
    file.seek(start)
    return start, file.read()


def _verify_footer(path: Path) -> None:
    """Refuse a footer that differs from its digest, if there is a digest."""
    with path.open("rb") as file:
        start, footer = _footer(file)
        file.seek(max(start - DIGEST - len(MARK), 0))
        mark, digest = file.read(len(MARK)), file.read(DIGEST)
    if mark == MARK and digest != hashlib.blake2b(footer, digest_size=DIGEST).digest():
        raise pa.ArrowInvalid("its footer is not the one that was written")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the damaged file in errors."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path}: expected a whole Parquet file, it is damaged: {reason}") from None


def digest(value: Any) -> str:
    """Digest of settings, independent of their order.

    Examples
    --------
    >>> digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def file_digest(*files: Path, root: Path | None = None) -> str:
    """Digest of the contents of files, and of their names below `root` if it is given."""
    found = hashlib.sha256()
    for path in files:
        name = str(path.relative_to(root)).encode() if root else b""
        with path.open("rb") as file:
            found.update(name + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]
