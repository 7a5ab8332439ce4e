"""Runs the units of a plan, in several processes or through Spark, each written when it is done.

A unit is a file of its own in `units/`, named after what it measures; those that are there are not run again,
so a comparison that was interrupted goes on where it was, and one with more seeds or worlds keeps what an
earlier one found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from sims.compare.network import network_of
from sims.compare.plan import Unit
from sims.compare.unit import measure
from workloads.files.atomic import atomic_write
from workloads.files.checked import read_parquet, write_parquet
from workloads.spark.processes import run_in_processes
from workloads.spark.session import spark_session
from workloads.spark.tasks import run_numbers

SCHEMA = pa.schema(
    [
        ("knob", pa.string()),
        ("loss", pa.float64()),
        ("crashed", pa.float64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("note", pa.string()),
    ]
)

Progress = Callable[[int, int], None]


def run_units(
    units: Sequence[Unit], folder: Path, processes: int, master: str | None, progress: Progress
) -> None:
    """Run the units that `folder` does not have yet.

    Parameters
    ----------
    processes : int
        How many at a time on this machine.
    master : str, optional
        Address of a Spark master, to run there instead.
    progress : callable
        Called with (done, all).
    """
    folder.mkdir(parents=True, exist_ok=True)
    todo = [unit for unit in units if not _file(folder, unit).exists()]
    done = len(units) - len(todo)
    progress(done, len(units))
    if master is not None:
        with spark_session(master) as spark:
            run_numbers(
                spark, range(len(todo)), partial(_run_number, todo, folder.resolve()), "units",
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
    return _run_one(todo[number], folder)


def _run_one(unit: Unit, folder: Path) -> int:
    began = time.process_time()
    digest, rows = measure(
        unit.world,
        unit.system,
        unit.seed,
        unit.subscribers,
        unit.events,
        unit.probes,
        unit.seconds,
        unit.choosing,
        network_of(unit.network),
    )
    columns = list(zip(*rows, strict=True))
    table = pa.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA)
    with atomic_write(_file(folder, unit)) as draft:
        notes = {"digest": digest, "cpu seconds": f"{time.process_time() - began:.1f}"}
        write_parquet(table.replace_schema_metadata(notes), draft)
    return len(rows)
