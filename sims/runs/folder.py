"""A run is a folder: settings, manifest, tables, figures, claims, log. See docs/formats.md.

Every file but the log is written atomically. The manifest's `state` is the state of the run:

    running ──► done                    interrupted, failed ──► running (resumed)
       ├──────► interrupted
       └──────► failed

A process that was killed leaves the state "running". The process that writes holds a lock on the log, which
the system releases when the process ends: two processes never write to one folder, and the run of a killed
process can be resumed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from sub2sub.errors import InputError
from sub2sub.tables import Table, shown
from workloads.files import manifest as manifests
from workloads.files.atomic import atomic_write, file_name, lock, remove_drafts, write_text
from workloads.files.checked import file_digest, read_parquet, write_parquet
from workloads.files.manifest import FORMAT, MANIFEST, Kind, State
from workloads.settings.documents import Document

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS, LOG, CHECKPOINT = "experiment.toml", "log.txt", "checkpoint.npz"


def is_run_folder(path: Path) -> bool:
    """Whether the folder contains a run."""
    return (path / MANIFEST).is_file()


class RunFolder:
    """Reader of a run folder.

    Attributes
    ----------
    path : Path
    manifest : dict
        `format`, `kind`, `name`, `state`, `seed`, `cycles`, `versions`, `machine`, `started`, `command`,
        `seconds`; `settings`, the digest of their file; `digests` of the tables when it is done.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with RunWriter.create(Path(folder) / "r", kind="run", name="example", seed=1) as writer:
    ...         path = writer.write_table("rings", {"cycle": [0, 1], "complete": [0.0, 0.5]})
    ...     run = RunFolder.open(Path(folder) / "r")
    ...     run.manifest["state"], run.tables(), run.table("rings")["complete"].to_pylist()
    ('done', ['rings'], [0.0, 0.5])
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest = path, manifest

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open the run in a folder."""
        return cls(path, _read_manifest(path))

    def __repr__(self) -> str:
        kind, state = self.manifest.get("kind"), self.manifest["state"]
        return f"<{kind} {self.manifest.get('name')!r} in {self.path}: {state}>"

    def _repr_html_(self) -> str:
        """For a notebook: the same line, what a comparison found, and the tables."""
        found = self.path / "finding.txt"
        sentences = found.read_text(encoding="utf-8").splitlines() if found.exists() else []
        footers = [parquet.read_metadata(self.path / f"{name}.parquet") for name in self.tables()]
        columns = {
            "table": np.array(self.tables()),
            "rows": np.array([footer.num_rows for footer in footers], int),
            "columns": np.array([", ".join(footer.schema.names) for footer in footers]),
        }
        return shown(repr(self), Table(columns)) + "".join(f"<p>{escape(line)}</p>" for line in sentences)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings with every default; empty if the folder has none."""
        file = self.path / SETTINGS
        return Document.open(file).data if file.exists() else {}

    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted(path.stem for path in self.path.glob("[!.]*.parquet"))

    def table(self, name: str) -> pa.Table:
        """Read a table."""
        file = self.path / f"{name}.parquet"
        if not file.exists():
            raise InputError(
                f"{self.path}: no table {name!r}, expected one of {', '.join(self.tables()) or 'none'}"
            )
        return read_parquet(file, name)

    def figures(self) -> list[Path]:
        """Paths of the figures."""
        return sorted(self.path.glob("[!.]*.png"))

    def claims(self) -> list[dict[str, Any]]:
        """The claims and measured values; empty if there are none."""
        file = self.path / "claims.json"
        claims: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
        return claims


class RunWriter(RunFolder):
    """Writer of a run folder; the end of its `with` block sets the state.

    `create` and `resume` return one.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        super().__init__(path, manifest)
        seconds = manifest.get("seconds")
        if not isinstance(seconds, int | float):
            raise InputError(f"{path / MANIFEST}: seconds: expected a number, got {seconds!r}")
        self._before = float(seconds)
        self._began = time.monotonic()
        if (path / LOG).is_symlink():  # nothing is written outside a folder that others may have made
            raise InputError(f"{path / LOG}: expected a file, got a link")
        self._log: IO[str] = (path / LOG).open("a", encoding="utf-8")
        lock(self._log, path)
        remove_drafts(path)

    @classmethod
    def create(
        cls, path: Path, *, kind: Kind, name: str, seed: int | None = None, cycles: int | None = None,
        replace: bool = False,
    ) -> RunWriter:  # fmt: skip
        """Begin a run in `path`, a new or empty folder; with `replace` it may have a run of the same kind."""
        if path.exists() and any(path.iterdir()):
            if not replace:
                state = f"a run that is {_read_manifest(path)['state']}" if is_run_folder(path) else "files"
                hint = "; --overwrite replaces it, --resume continues it" if is_run_folder(path) else ""
                raise InputError(f"{path}: expected a new or empty folder, it has {state}{hint}")
            _refuse_to_replace(path, kind)
        path.mkdir(parents=True, exist_ok=True)
        was_a_run = is_run_folder(path)
        writer = cls(path, {**manifests.begin_manifest(kind, name, seed=seed, cycles=cycles), "seconds": 0.0})
        if was_a_run:
            writer._clear()
        return writer._begin()

    @classmethod
    def resume(cls, path: Path, cycles: int | None = None) -> RunWriter:
        """Resume a run that was interrupted, failed or killed, or extend one that is done."""
        writer = cls(path, _read_manifest(path))
        longer = cycles is not None and cycles > (writer.manifest.get("cycles") or cycles)
        if cycles is not None:
            writer.manifest["cycles"] = cycles
        if writer.manifest["state"] == "done" and not longer:
            writer._log.close()
            raise InputError(f"{path}: expected a run that is not done")
        writer.manifest["state"] = "running"
        return writer._begin()

    @classmethod
    def reopen(cls, path: Path) -> RunWriter:
        """Open a run that is done, to write again the files that are computed from its tables."""
        return cls(path, _read_manifest(path))

    def write_table(self, name: str, columns: Mapping[str, Any] | pa.Table) -> Path:
        """Write columns of equal length as `<name>.parquet`."""
        table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
        file = self.path / f"{file_name(name)}.parquet"
        with atomic_write(file) as draft:
            write_parquet(table, draft, name)
        return file

    def write_figure(self, name: str, figure: Figure, formats: Sequence[str] = ("png",)) -> Path:
        """Write a figure as `<name>.png`, or in other formats, and close it; return the first path."""
        from matplotlib import pyplot as plt

        files = [self.path / f"{file_name(name)}.{format}" for format in formats]
        for file, format in zip(files, formats, strict=True):
            with atomic_write(file) as draft:
                figure.savefig(draft, format=format)
        plt.close(figure)
        return files[0]

    def write_text(self, name: str, text: str) -> Path:
        """Write a text file."""
        return write_text(self.path / name, text)

    def write_settings(self, text: str) -> Path:
        """Write the settings, as TOML; the manifest has their digest, so that damage is noticed."""
        if self.manifest.pop("settings", None) is not None:  # of other settings: a kill must not leave both
            manifests.write_manifest(self.path, self.manifest)
        file = self.write_text(SETTINGS, text)
        self.manifest["settings"] = file_digest(file)
        manifests.write_manifest(self.path, self.manifest)
        return file

    def note(self, text: str) -> None:
        """Add a line to the log."""
        self._log.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {text}\n")
        self._log.flush()

    def _begin(self) -> RunWriter:
        """Write the manifest; a run that is stopped meanwhile has ended, too."""
        try:
            manifests.write_manifest(self.path, self.manifest)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._end("done")
            elif isinstance(error, KeyboardInterrupt):
                self._end("interrupted")
            else:
                self.manifest["error"] = f"{type(error).__name__}: {error}"
                self._end("failed")
        finally:
            self._log.close()

    def _end(self, state: State) -> None:
        self.manifest["state"] = state
        if state != "failed":
            self.manifest.pop("error", None)
        self.manifest["seconds"] = round(self._before + time.monotonic() - self._began, 3)
        if state == "done":
            digests = {name: file_digest(self.path / f"{name}.parquet") for name in self.tables()}
            self.manifest["digests"] = digests
        reason = f": {self.manifest['error']}" if "error" in self.manifest else ""
        self.note(f"{state} after {self.manifest['seconds']:.1f} s{reason}")
        manifests.write_manifest(self.path, self.manifest)

    def _clear(self) -> None:
        """Remove the files of an earlier run; the log is locked, so it is emptied instead."""
        for name in (CHECKPOINT, SETTINGS, MANIFEST, "claims.json"):
            (self.path / name).unlink(missing_ok=True)
        for kind in ("parquet", "png", "svg", "pdf"):
            for file in self.path.glob(f"*.{kind}"):
                file.unlink()
        self._log.truncate(0)


def _refuse_to_replace(path: Path, kind: Kind) -> None:
    """Refuse to replace other files than those of a run of this kind; a damaged run may be replaced."""
    try:
        manifest = manifests.read_manifest(path)
    except InputError:
        return
    if manifest is None and {file.name for file in path.iterdir()} != {LOG}:
        raise InputError(f"{path}: expected a new or empty folder, or one that `{kind}` wrote, it has files")
    if manifest is not None and manifest.get("kind") != kind:
        has = manifest.get("kind", "workload")
        raise InputError(f"{path}: expected a folder that `{kind}` wrote, it has the results of `{has}`")


def _read_manifest(path: Path) -> dict[str, Any]:
    manifest = manifests.read_manifest(path)
    if manifest is None:
        raise InputError(f"{path}: expected a run folder with a {MANIFEST}")
    if manifest.get("format") != FORMAT or "state" not in manifest:
        raise InputError(f"{path / MANIFEST}: expected the manifest of a run, format {FORMAT}")
    return manifest
