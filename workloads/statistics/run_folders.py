"""Run folders of simulations, found by their manifests.

`sims.runs.folder` writes them: a folder with a `manifest.json` (kind, name, state), an `experiment.toml` with
the settings, and Parquet tables with a column `cycle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sub2sub.errors import InputError
from workloads.files.checked import read_parquet
from workloads.files.manifest import read_manifest
from workloads.settings.documents import Document
from workloads.settings.toml import leaves

_KINDS = ("run", "compare")  # folders with the tables of one simulation


@dataclass(frozen=True)
class Run:
    """A run folder, and the group of runs with which it is averaged."""

    path: Path
    manifest: Mapping[str, Any]
    group: str


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """All runs in these folders, or in folders below them, in order, each once; finished or not."""
    found: dict[Path, Run] = {}
    for path in paths:
        for folder, manifest in _below(path):
            found.setdefault(folder.resolve(), Run(folder, manifest, str(manifest.get("name", ""))))
    return list(found.values())


def _below(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    manifest = read_manifest(path) or {}
    if manifest.get("kind") in _KINDS and "state" in manifest:
        yield path, manifest
    elif path.is_dir():
        for folder in sorted(path.iterdir()):
            if folder.is_dir() and not folder.name.startswith("."):
                yield from _below(folder)


def unfinished(runs: Sequence[Run]) -> list[Run]:
    """The runs that were interrupted, have failed or are still running."""
    return [run for run in runs if run.manifest["state"] != "done"]


def grouped(runs: Sequence[Run], settings: Sequence[str]) -> list[Run]:
    """The same runs, in groups of equal settings, given as keys of `experiment.toml` with dots."""
    return [Run(run.path, run.manifest, _label(run, settings)) for run in runs] if settings else list(runs)


def _label(run: Run, settings: Sequence[str]) -> str:
    file = run.path / "experiment.toml"
    known = dict(leaves(Document.open(file).data))
    for setting in settings:
        if setting not in known:
            raise InputError(f"{file}: no setting {setting!r} to group by")
    return ", ".join(f"{setting} {known[setting]}" for setting in settings)


def rows_of(folder: Path, name: str, columns: Mapping[str, str]) -> pa.Table:
    """Columns of the table `name` of a run, given with their Arrow types; a missing column is null."""
    path = folder / f"{name}.parquet"
    try:
        table, found = read_parquet(path, name, partitioning=None), {}
        for column, alias in columns.items():
            kind = pa.type_for_alias(alias)
            known = column in table.column_names
            found[column] = table[column].cast(kind) if known else pa.nulls(table.num_rows, kind)
        return pa.table(found)
    except (OSError, pa.ArrowException) as failure:
        raise InputError(f"{path}: {str(failure).splitlines()[0]}") from None
