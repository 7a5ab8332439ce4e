"""Run folders of simulations, found by their manifests and read one by one, or many at a time on Spark.

The writer is `sims.runs.folder`; here only names matter: a folder with a `manifest.json` (kind, name, state),
an `experiment.toml` with the settings, and Parquet tables with a `cycle`. Each task reads the tables of a
number of runs and adds the columns `run` and `group`, so thousands of small files cost no listing, and a
file that cannot be read is named.
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
from workloads.spark.tasks import cores

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

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


def read_table(
    spark: SparkSession, runs: Sequence[Run], name: str, columns: Mapping[str, str]
) -> DataFrame | None:
    """The table `name` of those runs that have one with these columns, as one frame; None if no run does.

    Parameters
    ----------
    columns : mapping
        Column to its type in Arrow's words, such as ``{"cycle": "int64", "complete": "double"}``; a column
        that a run's table lacks is empty.

    Returns
    -------
    DataFrame
        run (the folder), group, and the columns.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = _schema(columns)
    files = [(str(run.path.resolve()), run.group) for run in runs if (run.path / f"{name}.parquet").exists()]
    if not files:
        return None

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                folder, group = files[number]
                yield from _rows(folder, group, name, schema).to_batches()

    partitions = min(len(files), 4 * cores(spark))
    return spark.range(0, len(files), 1, partitions).mapInArrow(read, from_arrow_schema(schema))


def rows_of(run: Run, name: str, columns: Mapping[str, str]) -> pa.Table:
    """The table `name` of one run that has it: run (the folder), group, and the columns."""
    return _rows(str(run.path.resolve()), run.group, name, _schema(columns))


def _schema(columns: Mapping[str, str]) -> pa.Schema:
    import pyarrow as pa

    types = {"run": pa.string(), "group": pa.string()}
    return pa.schema(types | {column: pa.type_for_alias(alias) for column, alias in columns.items()})


def _rows(folder: str, group: str, name: str, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    path = Path(folder) / f"{name}.parquet"
    try:
        table = read_parquet(path, partitioning=None)
        own = {"run": pa.repeat(folder, table.num_rows), "group": pa.repeat(group, table.num_rows)}
        for field in list(schema)[2:]:
            known = field.name in table.column_names
            column = table[field.name] if known else pa.nulls(table.num_rows, field.type)
            own[field.name] = column.cast(field.type)
        return pa.table(own, schema=schema)
    except (OSError, pa.ArrowException) as failure:
        raise InputError(f"{path}: {str(failure).splitlines()[0]}") from None
