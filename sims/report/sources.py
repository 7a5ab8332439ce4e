"""Sources of a report: folders with results, of which some files may be missing or damaged.

A source is a folder with the manifest of a run, with claims (`sub2sub reproduce`), or with the statistics of
a workload or of many runs (`sub2sub stats`, `sweep`). A missing or damaged file does not stop a report; the
page mentions it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sims.runs.folder import RunFolder, is_run_folder
from sub2sub.errors import InputError

_SIGNS = {
    "claims.json": "reproduce", "statistics.md": "statistics", "runs.md": "statistics",
    "results.parquet": "sweep",
}  # fmt: skip


class Source:
    """A folder with results.

    Attributes
    ----------
    run : RunFolder
        Its reader.
    kind : str
        Kind in the manifest, or else by its files: "run", "reproduce", "compare", "sweep", ...
    problems : list of str
        Files that could not be read, in the order of reading.
    """

    def __init__(self, run: RunFolder, kind: str) -> None:
        self.run, self.kind = run, kind
        self.problems: list[str] = []
        self._tables: dict[str, pa.Table | None] = {}

    @property
    def path(self) -> Path:
        """The folder."""
        return self.run.path

    @property
    def name(self) -> str:
        """Name of the run, or of its folder."""
        return str(self.run.manifest.get("name") or self.path.resolve().name)

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest; empty if there is none."""
        return self.run.manifest

    def table(self, name: str) -> pa.Table | None:
        """Read a table; None if it is missing or damaged."""
        if name not in self._tables:
            self._tables[name] = None
            if self.has_table(name):
                self._tables[name] = self._read(f"{name}.parquet", lambda: self.run.table(name))
        return self._tables[name]

    def has_table(self, name: str) -> bool:
        """Whether the file of a table exists, readable or not."""
        return (self.path / f"{name}.parquet").exists()

    def rows(self, name: str) -> int:
        """Return the number of rows of a table without reading it; 0 if it is missing or damaged."""
        if not self.has_table(name):
            return 0
        file = self.path / f"{name}.parquet"
        found = self._read(file.name, lambda: parquet.read_metadata(file).num_rows)
        return int(found or 0)

    def columns(self, name: str, *needed: str) -> dict[str, Any] | None:
        """Return columns of a table as arrays; None, with a problem noted, if a required one is missing."""
        table = self.table(name)
        if table is None:
            return None
        missing = [column for column in needed if column not in table.column_names]
        if missing:
            self._note(f"{name}.parquet has no column {', '.join(map(repr, missing))}")
            return None
        return {column: table[column].to_numpy() for column in table.column_names}

    def settings(self) -> dict[str, Any]:
        """Return the settings; empty if there are none."""
        return self._read("experiment.toml", lambda: self.run.settings) or {}

    def faults(self) -> list[Mapping[str, Any]]:
        """Return the faults among the settings, each as a table."""
        return [fault for fault in self.settings().get("faults", []) if isinstance(fault, Mapping)]

    def claims(self) -> list[dict[str, Any]]:
        """Return the claims with measured values."""
        found = self._read("claims.json", self.run.claims) or []
        good = [claim for claim in found if isinstance(claim, dict) and {"claim", "holds"} <= claim.keys()]
        if len(good) < len(found):
            self._note(f"claims.json has {len(found) - len(good)} entries without a claim or a verdict")
        return good

    def _read(self, file: str, read: Any) -> Any:
        try:
            return read()
        except (InputError, OSError, pa.ArrowException, json.JSONDecodeError, UnicodeDecodeError) as error:
            reason = str(error).partition("\n")[0]
            self._note(f"{file} cannot be read: {reason}")
            return None

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """Find the sources in folders and their subfolders, each once.

    Raises
    ------
    InputError
        If a path is not a folder or contains no results.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "claims.json").write_text("[]") and find_sources([Path(folder)])[0].kind
    'reproduce'
    """
    found: dict[Path, Source] = {}
    for path in paths:
        if not path.is_dir():
            raise InputError(f"{path}: expected a folder")
        below = list(_below(path))
        if not below:
            raise InputError(
                f"{path}: expected a run folder (with a manifest.json, claims.json or statistics), "
                "or folders of runs"
            )
        for source in below:
            found.setdefault(source.path.resolve(), source)
    return list(found.values())


def _below(path: Path) -> Iterator[Source]:
    if is_run_folder(path):
        try:
            run = RunFolder.open(path)
            yield Source(run, str(run.manifest.get("kind", "run")))
            return
        except InputError as error:
            # A damaged one of ours, not a file of another program.
            if "expected the manifest" not in str(error):
                source = Source(RunFolder(path, {}), "run")
                source.problems.append(f"manifest.json cannot be read: {error}")
                yield source
                return
    for sign, kind in _SIGNS.items():
        if (path / sign).is_file():
            yield Source(RunFolder(path, {}), kind)
            return
    for folder in sorted(path.iterdir()):
        if folder.is_dir() and not folder.name.startswith("."):
            yield from _below(folder)
