"""Verifies the files of a step and marks the step as complete.

A task may report success although its file is on a disk that only its worker can see. So the machine that
started the step verifies that every file exists and has the right number of rows. The mark, `_complete.json`,
holds the row counts; readers of Parquet folders ignore it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pyarrow import ArrowInvalid, parquet

from sub2sub.errors import InputError
from workloads.files.atomic import remove_drafts, write_text
from workloads.files.places import contents

MARK = "_complete.json"


def verify(files: Sequence[Path], rows: Sequence[int]) -> None:
    """Raise unless each file exists and has as many rows as its task reported."""
    for file, expected in zip(files, rows, strict=True):
        try:
            found = parquet.read_metadata(contents(file)).num_rows
        except FileNotFoundError:
            raise InputError(
                f"{file}: a worker wrote it and it is not there: expected a folder that all workers share"
            ) from None
        except ArrowInvalid as failure:
            raise InputError(f"{file}: {failure}") from None
        if found != expected:
            raise InputError(f"{file}: expected {expected} rows, got {found}")


def complete(folder: Path, files: Sequence[Path], rows: Sequence[int]) -> Path:
    """Verify the files of a step, remove temporary files of failed attempts, and mark it as complete."""
    verify(files, rows)
    folder.mkdir(parents=True, exist_ok=True)
    remove_drafts(folder)
    counts = {file.name: int(count) for file, count in zip(files, rows, strict=True)}
    write_text(folder / MARK, json.dumps({"rows": sum(counts.values()), "files": counts}) + "\n")
    return folder


def completed(folder: Path) -> dict[str, int] | None:
    """Row counts of the files of a complete step; None if it is not complete.

    Raises
    ------
    InputError
        If the mark is damaged, or names files outside the folder.
    """
    try:
        mark = json.loads((folder / MARK).read_text())
        files: dict[str, int] = mark["files"]
        counts = list(files.values())
        inside = all(Path(name).name == name != MARK for name in files)
        if (
            not inside
            or {*map(type, counts)} - {int}
            or min(counts, default=0) < 0
            or sum(counts) != mark["rows"]
        ):
            raise ValueError("its counts do not fit")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder / MARK}: expected the files of a step, it is damaged: {error!r}") from None
    return files


def require(folder: Path, what: str, command: str) -> dict[str, int]:
    """Row counts of the files of a step; if it is not complete, an error that names the command to run."""
    files = completed(folder)
    if files is None:
        raise InputError(f"{folder.parent}: no {what} yet, expected `{command}` first")
    return files
