"""A new workload folder, or one that is replaced: complete or absent, even if the process is killed.

While a folder is being written, it has a file `.unfinished`, on which the writing process holds a lock. If
there is such a file without a lock, and no manifest, then the writing process was killed; what it left is
removed when the command is started again. Object stores have no locks: there, `overwrite` has to be given.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from sub2sub.errors import InputError
from workloads.files.manifest import MANIFEST
from workloads.files.places import Remote
from workloads.folder.steps import clear

_UNFINISHED = ".unfinished"

# What a workload folder may hold, results of matching and statistics included.
_KNOWN = {
    MANIFEST, _UNFINISHED, "subscriptions", "events", "churn", "topics.parquet", "rejected", "matches",
    "rings", "statistics", ".candidates", ".tiles", ".arcs",
}  # fmt: skip


@contextmanager
def new_folder(out: Path, overwrite: bool = False) -> Iterator[None]:
    """Make a folder, or clear it for a new workload; if the block fails, nothing is left in it.

    Parameters
    ----------
    overwrite : bool
        Whether a workload that is there is replaced.

    Raises
    ------
    InputError
        The folder has a workload that is not to be replaced, or other files, or is being written.
    """
    was_there = out.exists()
    names = {each.name for each in out.iterdir()} if was_there else set()
    foreign = sorted(name for name in names - _KNOWN if not name.endswith(".part"))
    unfinished = _UNFINISHED in names and MANIFEST not in names
    if foreign or (names and not overwrite and not unfinished):
        hint = f", it has {foreign[0]}" if foreign else "; --overwrite begins anew"
        raise InputError(f"{out}: expected an empty or new folder{hint}")
    out.mkdir(parents=True, exist_ok=True)
    try:
        with _only_writer(out):
            _empty(out)
            try:
                yield
            except BaseException:  # interrupted too: half a workload is of no use, and would be in the way
                _empty(out)
                raise
    finally:
        if not was_there and not any(out.iterdir()):
            clear(out)


@contextmanager
def _only_writer(out: Path) -> Iterator[None]:
    """Hold the lock of a folder; the file that it is on is removed at the end."""
    if isinstance(out, Remote):
        yield
        return
    with (out / _UNFINISHED).open("a") as mark:
        try:
            if fcntl is not None:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{out}: another process is writing to it") from None
        try:
            yield
        finally:
            (out / _UNFINISHED).unlink(missing_ok=True)


def _empty(out: Path) -> None:
    """Remove the contents of a folder; first the manifest, so that the rest does not count as a workload."""
    (out / MANIFEST).unlink(missing_ok=True)
    for each in sorted(out.iterdir()):
        if each.is_dir():
            clear(each)
        elif each.name != _UNFINISHED:
            each.unlink(missing_ok=True)
