"""Check the free disk space before anything is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from sub2sub.errors import InputError
from workloads.files.places import Remote


def estimated_bytes(attributes: int, subscribers: int, events: int) -> int:
    """Estimated size of a workload on disk: 8 bytes per number, without compression.

    Examples
    --------
    >>> estimated_bytes(attributes=3, subscribers=100_000_000, events=0)
    6400000000
    """
    return 8 * (subscribers * (2 + 2 * attributes) + events * (1 + attributes))


def refuse_beyond_disk(folder: Path, wanted: int) -> None:
    """Refuse to write more than the free space on the disk of a folder, its own files included.

    These files are replaced. Object stores are not checked.
    """
    if isinstance(folder, Remote):
        return
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    replaced = sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
    free = shutil.disk_usage(there).free + replaced
    if wanted > free:
        raise InputError(
            f"{folder}: expected room for about {wanted / 1e9:.1f} GB, {free / 1e9:.1f} GB are free"
        )
