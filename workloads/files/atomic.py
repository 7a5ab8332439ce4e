"""Atomic writes: a file is complete or absent.

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
