"""The units of a comparison, each a call of `measure`, for the scheduler.

Each unit is a file in `units/`, named after what it measures. Units with a file are not run again, so an
interrupted comparison continues, and one with more seeds or worlds keeps the earlier results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from sims.compare.network import network_of
from sims.compare.plan import RUN, Unit
from sims.compare.unit import measure
from sims.compare.worlds import Rule
from workloads.spark.tasks import Spark
from workloads.sweeps import scheduler

SCHEMA = pa.schema(
    {
        "knob": pa.string(), "loss": pa.float64(), "crashed": pa.float64(), "metric": pa.string(),
        "value": pa.float64(), "note": pa.string(),
    }
)  # fmt: skip
Progress = Callable[[int, int], None]


def run_units(
    units: Sequence[Unit], folder: Path, processes: int, spark: Spark, progress: Progress
) -> dict[str, str]:
    """Run the units that `folder` does not have yet; return why some have no result, by their keys.

    A system that could not run in a world at all is not tried with the seeds that follow.
    """
    reasons: dict[str, str] = {}
    unable: dict[tuple[str, str], str] = {}
    done = 0
    for _, group in groupby(units, key=lambda unit: unit.seed):
        of_seed = list(group)
        reasons |= {unit.key: unable[_pair(unit)] for unit in of_seed if _pair(unit) in unable}
        tried = [unit for unit in of_seed if _pair(unit) not in unable]
        done += len(of_seed) - len(tried)
        reasons |= scheduler.run_units(
            [_scheduled(unit) for unit in tried], folder, processes=processes, spark=spark,
            progress=partial(_go_on, progress, done, len(units)),
        )  # fmt: skip
        for unit in tried:
            _, table = read_unit(folder, unit, reasons)
            if table["metric"].to_pylist() == ["unable"] and unit.key not in reasons:
                unable[_pair(unit)] = table["note"][0].as_py().removeprefix("not run: ")
        done += len(tried)
    return reasons


def _go_on(progress: Progress, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def _pair(unit: Unit) -> tuple[str, str]:
    return unit.world, unit.system


def read_unit(folder: Path, unit: Unit, reasons: Mapping[str, str]) -> tuple[str, pa.Table]:
    """The fingerprint of the world that a unit saw, and its values; the reason if it has none."""
    if unit.key in reasons:
        return "", _table([("", 0.0, 0.0, "unable", float("nan"), f"not run: {reasons[unit.key]}")])
    table = scheduler.read_unit(folder, _scheduled(unit))
    return table.schema.metadata[b"digest"].decode(), table


def _scheduled(unit: Unit) -> scheduler.Unit:
    return scheduler.Unit(RUN, asdict(unit), unit.key)


def measured(settings: Mapping[str, Any]) -> pa.Table:
    """The values of a unit, and in their metadata the fingerprint of the world that it saw."""
    unit = Unit(**settings)
    size = (unit.subscribers, unit.events, unit.probes, unit.seconds, unit.choosing)
    digest, rows = measure(
        unit.world,
        unit.system,
        unit.seed,
        *size,
        network_of(unit.network),
        Rule.of(unit.rule),
        unit.brief,
        unit.rate,
    )
    return _table(rows).replace_schema_metadata({"digest": digest})


def _table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(SCHEMA.names, map(list, columns), strict=True)), schema=SCHEMA)
