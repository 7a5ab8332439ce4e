"""Creates or replaces a workload folder, so that it is complete or absent even if the process is killed.

While a folder is being written, it has a file `.unfinished`, which the writing process has locked. If there
is such a file without a lock, and no manifest, then the writing process was killed; its files are removed
when the command is started again. Object stores have no locks: there, `overwrite` has to be given.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sub2sub.errors import InputError
from workloads.files.locks import lock
from workloads.files.manifest import MANIFEST
from workloads.files.places import Remote, remove

_UNFINISHED = ".unfinished"

# All files and folders of a workload folder, including results of matching and statistics.
_KNOWN = {
    MANIFEST, _UNFINISHED, "subscriptions", "events", "churn", "topics.parquet", "rejected", "matches",
    "rings", "statistics", ".candidates", ".tiles", ".arcs",
}  # fmt: skip


@contextmanager
def new_folder(out: Path, overwrite: bool = False) -> Iterator[None]:
    """Make a folder, or clear it for a new workload; if the block fails, the folder is empty again.

    A folder is refused if it has other files, or a workload and `overwrite` is false, or is being written.
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
            except BaseException:  # also after an interruption: half a workload is of no use
                _empty(out)
                raise
    finally:
        if not was_there and not any(out.iterdir()):
            remove(out)


@contextmanager
def _only_writer(out: Path) -> Iterator[None]:
    """Hold the lock of a folder; the locked file is removed at the end."""
    if isinstance(out, Remote):
        yield
        return
    with (out / _UNFINISHED).open("a") as mark:
        lock(mark, out)
        try:
            yield
        finally:
            (out / _UNFINISHED).unlink(missing_ok=True)


def _empty(out: Path) -> None:
    """Remove the contents of a folder; first the manifest, so that the rest is not read as a workload."""
    (out / MANIFEST).unlink(missing_ok=True)
    for each in sorted(out.iterdir()):
        if each.is_dir() and not (isinstance(each, Path) and each.is_symlink()):  # never the target of a link
            remove(each)
        elif each.name != _UNFINISHED:
            each.unlink(missing_ok=True)
