"""A lock that allows one writer per folder; the system releases it when the process ends."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from sub2sub.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks, so two processes can write to one folder
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[str], folder: Path) -> None:
    """Lock an open file until it is closed. If another process holds the lock, close the file and raise."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InputError(f"{folder}: another process is writing to it") from None
