"""Folders to report on: what others wrote there, and what of it cannot be read.

A source is a folder with a run's manifest, with claims (`sub2sub reproduce`), or with the statistics of a
workload or of many runs (`sub2sub workload stats`, `sweep`). Nothing that is missing or damaged stops a
report: the page says so instead.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sims.runs.folder import RunFolder, is_run_folder
from sub2sub.errors import InputError

__all__ = ["Source", "find_sources"]

_SIGNS = {
    "claims.json": "reproduce", "statistics.md": "statistics", "runs.md": "statistics",
    "results.parquet": "sweep",
}  # fmt: skip


class Source:
    """One folder.

    Attributes
    ----------
    run : RunFolder
        Its reader.
    kind : str
        What the manifest says, or what its files look like: "run", "reproduce", "compare", "sweep", ...
    problems : list of str
        What could not be read, in the order in which it was asked for.
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
        """What the run was called, or its folder."""
        return str(self.run.manifest.get("name") or self.path.resolve().name)

    @property
    def manifest(self) -> dict[str, Any]:
        """Empty if the folder has no such file."""
        return self.run.manifest

    def table(self, name: str) -> pa.Table | None:
        """A table, or None if there is none that can be read."""
        if name not in self._tables:
            self._tables[name] = None
            if self.has_table(name):
                self._tables[name] = self._read(f"{name}.parquet", lambda: self.run.table(name))
        return self._tables[name]

    def has_table(self, name: str) -> bool:
        """Whether there is a file of a table, readable or not."""
        return (self.path / f"{name}.parquet").exists()

    def rows(self, name: str) -> int:
        """How many rows a table has, without reading it; 0 if there is none that can be read."""
        if not self.has_table(name):
            return 0
        file = self.path / f"{name}.parquet"
        found = self._read(file.name, lambda: parquet.read_metadata(file).num_rows)
        return int(found or 0)

    def columns(self, name: str, *needed: str) -> dict[str, Any] | None:
        """NumPy arrays of a table's columns; None, and a problem noted, if one that is needed is missing."""
        table = self.table(name)
        if table is None:
            return None
        missing = [column for column in needed if column not in table.column_names]
        if missing:
            self._note(f"{name}.parquet has no column {', '.join(map(repr, missing))}")
            return None
        return {column: table[column].to_numpy() for column in table.column_names}

    def settings(self) -> dict[str, Any]:
        """Resolved settings, empty where there are none."""
        return self._read("experiment.toml", lambda: self.run.settings) or {}

    def claims(self) -> list[dict[str, Any]]:
        """Claims beside measurements."""
        found = self._read("claims.json", self.run.claims) or []
        good = [claim for claim in found if isinstance(claim, dict) and {"claim", "holds"} <= claim.keys()]
        if len(good) < len(found):
            self._note(f"claims.json has {len(found) - len(good)} entries without a claim or a verdict")
        return good

    def _read(self, file: str, read: Any) -> Any:
        try:
            return read()
        except (InputError, OSError, pa.ArrowException, json.JSONDecodeError, tomllib.TOMLDecodeError,
                UnicodeDecodeError) as error:  # fmt: skip
            reason = str(error).partition("\n")[0]
            self._note(f"{file} cannot be read: {reason}")
            return None

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """The sources in folders, or in folders below them; each once.

    Raises
    ------
    InputError
        For a path that is no folder, or has nothing to report on.

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
            if "expected the manifest" not in str(error):  # not another program's, but a damaged one
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
