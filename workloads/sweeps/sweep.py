"""Parameter sweeps: a grid of settings times seeds, one run per task, results in one table.

    experiment = "crash.toml"           # an experiment of `sub2sub run`, a file or a name
    seeds = 10                          # or a list of seeds

    [settings]                          # the same in every run
    population.size = 10_000

    [grid]                              # every combination of these, by their keys in the experiment
    layers.ring.max_age = [0, 9]
    dissemination.shortcuts = [0, 1, 2]

Instead of `experiment`, `run = "module:function"` names a function from a dict of settings to a dict of
results; it gets the settings as they are written.

Each run is a unit of `workloads.sweeps.scheduler`, whose key is a digest of the experiment, the files that it
names, the settings and the code. So runs that are done are skipped when the sweep is started again, also on
another machine or with another grid. `results.parquet` holds only the runs of the plan. If a run raises or is
killed, its row has the reason, and it is tried again next time.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write, remove_drafts
from workloads.files.checked import digest, write_parquet
from workloads.files.manifest import State, begin_manifest, write_manifest
from workloads.spark.tasks import Spark
from workloads.sweeps.scheduler import (
    Progress,
    Unit,
    code_of,
    function_of,
    key_of,
    read_unit,
    run_units,
    seconds_of,
)

Settings = dict[str, Any]

_OWN_COLUMNS = ("run", "digest", "seconds", "error")


@dataclass(frozen=True)
class Sweep:
    """A grid of settings times seeds for a function given as "module:function".

    Attributes
    ----------
    run : str
    grid : mapping
        The values of each setting that varies.
    seeds : sequence of int
    settings : mapping
        Settings that are the same in every run.
    content : str
        A digest of the experiment and of the files that it names.

    Examples
    --------
    >>> plan = Sweep("math:prod", {"loss": [0.0, 0.1]}, seeds=[1, 2, 3], settings={"peers": 10})
    >>> len(plan.runs()), plan.runs()[0]
    (6, {'peers': 10, 'loss': 0.0, 'seed': 1})
    """

    run: str
    grid: Mapping[str, Sequence[Any]]
    seeds: Sequence[int]
    settings: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""

    def __post_init__(self) -> None:
        for name, values in self.grid.items():
            if not isinstance(values, list | tuple) or not values:
                raise InputError(f"grid.{name}: expected a list of values, got {values!r}")
            if name in self.settings:
                raise InputError(f"grid.{name}: expected it either in grid or in settings, not in both")
        for name in ("seed", *_OWN_COLUMNS):
            for table in ("grid", "settings"):
                if name in getattr(self, table):
                    raise InputError(f"{table}.{name}: expected another name, it is a column of all sweeps")
        if not isinstance(self.seeds, Sequence) or not all(_is_seed(seed) for seed in self.seeds):
            raise InputError(f"seeds: expected a list of whole numbers from 0, got {self.seeds!r}")
        if not self.seeds:
            raise InputError("seeds: expected at least one")
        function_of(self.run)

    @cached_property
    def digest(self) -> str:
        """Digest of the experiment, of the settings that are the same in every run, and of the code."""
        settings = dict(self.settings)
        if self.content:  # the contents of the file count, not its path
            settings["experiment"] = [Path(str(settings["experiment"])).stem, self.content]
        return key_of(self.run, settings)

    def key(self, settings: Settings) -> str:
        """The name of a run, which does not depend on the order of its settings."""
        own = {name: value for name, value in settings.items() if name not in self.settings}
        return digest([self.digest, own])

    def runs(self) -> list[Settings]:
        """The settings of every run, seeds varying fastest."""
        combinations = itertools.product(*self.grid.values(), self.seeds)
        return [
            dict(self.settings) | dict(zip([*self.grid, "seed"], values, strict=True))
            for values in combinations
        ]


def _is_seed(seed: object) -> bool:
    return isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0


def sweep(
    plan: Sweep,
    out: Path,
    spark: Spark = None,
    progress: Progress | None = None,
    processes: int = 1,
) -> pa.Table:
    """Make the runs that are not done yet; return all results, and write them to `results.parquet`.

    Parameters
    ----------
    out : Path
        Folder of the sweep; one that exists is continued.
    spark, progress, processes
        See `workloads.sweeps.scheduler.run_units`.
    """
    out.mkdir(parents=True, exist_ok=True)
    remove_drafts(out)
    units = [Unit(plan.run, settings, plan.key(settings)) for settings in plan.runs()]
    _write_manifest(plan, out, "running")
    reasons = run_units(units, out / "runs", processes=processes, spark=spark, progress=progress)
    rows = [_row(plan, unit, out / "runs", reasons.get(unit.key)) for unit in units]
    table = pa.concat_tables(rows, promote_options="permissive")
    with atomic_write(out / "results.parquet") as draft:
        write_parquet(table, draft)
    _write_manifest(plan, out, "done")
    return table


def _row(plan: Sweep, unit: Unit, folder: Path, reason: str | None) -> pa.Table:
    """The row of a run: its settings, its results or why there are none, and its seconds."""
    settings = {"run": unit.key, "digest": plan.digest, **unit.settings}
    row, seconds = pa.Table.from_pylist([settings]), None
    if reason is None:
        found = read_unit(folder, unit)
        seconds = seconds_of(found)
        taken = [name for name in found.column_names if name in settings or name in _OWN_COLUMNS]
        if taken:
            reason = f"InputError: result {taken[0]!r}: expected a name that no setting has"
        else:
            for name in found.column_names:
                row = row.append_column(name, found[name])
    row = row.append_column("seconds", pa.array([seconds], pa.float64()))
    return row.append_column("error", pa.array([reason], pa.string()))


def _write_manifest(plan: Sweep, out: Path, state: State) -> None:
    name = Path(str(plan.settings.get("experiment", plan.run))).stem
    what = {
        "run": plan.run, "grid": dict(plan.grid), "seeds": list(plan.seeds), "settings": dict(plan.settings),
        "digest": plan.digest, "code": code_of(plan.run),
    }  # fmt: skip
    write_manifest(out, {**begin_manifest("sweep", name, state=state), **what})
