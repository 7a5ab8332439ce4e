"""Run folders of simulations, found by their manifests.

The writer is `sims.runs.folder`; here only names matter: a folder with a `manifest.json` (kind, name, state),
an `experiment.toml` with the settings, and Parquet tables with a `cycle`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sub2sub.errors import InputError
from workloads.files.checked import read_parquet
from workloads.files.manifest import read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

_KINDS = ("run", "compare", "bench")  # whose tables are those of one simulation


@dataclass(frozen=True)
class Run:
    """A run folder, and the group of runs it is averaged with."""

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
    """The runs that were interrupted, failed or are still going."""
    return [run for run in runs if run.manifest["state"] != "done"]


def grouped(runs: Sequence[Run], settings: Sequence[str]) -> list[Run]:
    """The same runs, in groups of equal settings, given as keys of `experiment.toml` with dots.

    Raises
    ------
    InputError
        Naming the run that lacks a setting.
    """
    return [Run(run.path, run.manifest, _label(run, settings)) for run in runs] if settings else list(runs)


def _label(run: Run, settings: Sequence[str]) -> str:
    file = run.path / "experiment.toml"
    try:
        known = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as failure:
        raise InputError(f"{file}: {failure}") from None
    parts = []
    for setting in settings:
        value: Any = known
        for key in setting.split("."):
            if not isinstance(value, Mapping) or key not in value:
                raise InputError(f"{file}: no setting {setting!r} to group by")
            value = value[key]
        parts.append(f"{setting} {value}")
    return ", ".join(parts)


def rows_of(folder: Path, name: str, columns: Mapping[str, str]) -> pa.Table:
    """Columns of the table `name` of a run, by their types in Arrow's words; empty where the table lacks one.

    Raises
    ------
    InputError
        For a table that cannot be read.
    """
    import pyarrow as pa

    path = folder / f"{name}.parquet"
    try:
        table, found = read_parquet(path, partitioning=None), {}
        for column, alias in columns.items():
            kind = pa.type_for_alias(alias)
            known = column in table.column_names
            found[column] = table[column].cast(kind) if known else pa.nulls(table.num_rows, kind)
        return pa.table(found)
    except (OSError, pa.ArrowException) as failure:
        raise InputError(f"{path}: {str(failure).splitlines()[0]}") from None
