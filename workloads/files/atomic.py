"""Writing files: a file is complete or absent, a folder has one writer, names are those of files.

A file is written under a temporary name, flushed to the disk and renamed; then its folder, which holds the
name, is flushed. After a full disk, a killed process or a power failure there is the old file, the new one or
none, never a part of one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sub2sub.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks, so two processes can write to one folder
    fcntl = None  # type: ignore[assignment]


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which is renamed to `path` if the block ends without an error.

    Missing folders are created. A process that is killed may leave a file `.NAME.XXXX.part`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt") as draft:
    ...         _ = draft.write_text("all of it")
    ...     (Path(folder) / "a.txt").read_text()
    'all of it'
    """
    made = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    # A random name: Spark may run the same task twice at a time, and both would write into the same file.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    for folder in (path.parent, *(folder.parent for folder in made)):
        _flush_folder(folder)


def remove_drafts(folder: Path) -> None:
    """Remove temporary files that killed processes left. The caller must be the only writer of the folder."""
    for draft in folder.glob(".*.part"):
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a file of text (UTF-8), atomically."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # on other systems a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


LONGEST = 200  # bytes of a file's name


def file_name(name: str, field: str = "name") -> str:
    """Return a name if it is a valid file name; refuse slashes, leading dots and long names.

    Examples
    --------
    >>> file_name("hit ratio")
    'hit ratio'
    >>> file_name("../../x")
    Traceback (most recent call last):
    sub2sub.errors.InputError: name: expected a name without slashes or a leading dot, got '../../x'
    """
    if not name or name.startswith(".") or not name.isprintable() or set(name) & set("/\\:"):
        raise InputError(f"{field}: expected a name without slashes or a leading dot, got {name!r}")
    if len(name.encode()) > LONGEST:  # most file systems allow 255 bytes, and a temporary name adds some
        raise InputError(f"{field}: expected at most {LONGEST} bytes, got {len(name.encode())}")
    return name


def lock(file: IO[str], folder: Path) -> None:
    """Lock an open file until it is closed. If another process holds the lock, close the file and raise."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InputError(f"{folder}: another process is writing to it") from None
