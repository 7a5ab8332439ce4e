"""Runs the units of a plan, in several processes or through Spark, each written when it is done.

Each unit is a file in `units/`, named after what it measures. Units with a file are not run again, so an
interrupted comparison continues, and one with more seeds or worlds keeps the earlier results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path

import pyarrow as pa

from sims.compare.network import network_of
from sims.compare.plan import Unit
from sims.compare.unit import measure
from workloads.files.atomic import atomic_write
from workloads.files.checked import read_parquet, write_parquet
from workloads.spark.processes import run_in_processes
from workloads.spark.tasks import Spark, run_each

SCHEMA = pa.schema(
    {
        "knob": pa.string(), "loss": pa.float64(), "crashed": pa.float64(), "metric": pa.string(),
        "value": pa.float64(), "note": pa.string(),
    }
)  # fmt: skip


Progress = Callable[[int, int], None]


def run_units(units: Sequence[Unit], folder: Path, processes: int, spark: Spark, progress: Progress) -> None:
    """Run the units that `folder` does not have yet, in several processes here or on Spark."""
    folder.mkdir(parents=True, exist_ok=True)
    todo = [unit for unit in units if not _file(folder, unit).exists()]
    done = len(units) - len(todo)
    progress(done, len(units))
    if spark is not None:
        run_each(
            spark, len(todo), partial(_run_number, todo, folder.resolve()), "units",
            lambda _, now, total: progress(done + now, done + total),
        )  # fmt: skip
        return
    run_in_processes(
        partial(_run_number, todo, folder), len(todo), processes,
        lambda now, _: progress(done + now, len(units)),
    )  # fmt: skip


def read_unit(folder: Path, unit: Unit) -> tuple[str, pa.Table]:
    """The fingerprint of the world that a unit saw, and its values."""
    table = read_parquet(_file(folder, unit))
    return table.schema.metadata[b"digest"].decode(), table


def _file(folder: Path, unit: Unit) -> Path:
    return folder / f"{unit.key}.parquet"


def _run_number(todo: Sequence[Unit], folder: Path, number: int) -> int:
    unit, began = todo[number], time.process_time()
    arguments = [*astuple(unit)[:-1], network_of(unit.network)]
    digest, rows = measure(*arguments)
    columns = list(zip(*rows, strict=True))
    table = pa.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA)
    with atomic_write(_file(folder, unit)) as draft:
        notes = {"digest": digest, "cpu seconds": f"{time.process_time() - began:.1f}"}
        write_parquet(table.replace_schema_metadata(notes), draft)
    return len(rows)
