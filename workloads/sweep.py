"""Parameter sweeps: a grid of settings times seeds, one run per task, results in one table.

    run = "sims.engine.sweeps:run"      # a function from a dict of settings to a dict of results
    seeds = 10                          # or a list of seeds

    [settings]                          # the same in every run
    peers = 10_000

    [grid]                              # every combination of these
    shortcuts = [0, 1, 2]
    loss = [0.0, 0.05]

Each run writes a file of its own, named after its settings, when it ends; so runs that are done are skipped
when the sweep is started again, on another machine or with a larger grid too. A run that raises is a
row with its error, and is tried again next time.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sub2sub.errors import InputError
from workloads.session import StageProgress, run_numbers
from workloads.tables import whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["Sweep", "load_sweep", "results", "sweep"]

Settings = dict[str, Any]
Run = Callable[[Settings], Mapping[str, Any]]

_OWN_COLUMNS = ("run", "seconds", "error")


@dataclass(frozen=True)
class Sweep:
    """A grid of settings times seeds for a function given as "module:function".

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

    def __post_init__(self) -> None:
        for name, values in self.grid.items():
            if not isinstance(values, list | tuple) or not values:
                raise InputError(f"grid.{name} = {values!r}: expected a list of values")
            if name in self.settings:
                raise InputError(f"grid.{name}: expected it either in grid or in settings, not in both")
        for name in ("seed", *_OWN_COLUMNS):
            if name in self.grid or name in self.settings:
                raise InputError(f"{name!r} is a column of every sweep: expected another name for a setting")
        if not self.seeds:
            raise InputError("seeds: expected at least one")
        _function(self.run)

    def runs(self) -> list[Settings]:
        """The settings of every run, seeds varying fastest."""
        combinations = itertools.product(*self.grid.values(), self.seeds)
        return [
            dict(self.settings) | dict(zip([*self.grid, "seed"], values, strict=True))
            for values in combinations
        ]


def load_sweep(path: Path) -> Sweep:
    """The sweep that a TOML file describes."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as failure:
        raise InputError(f"{path}: {failure}") from None
    unknown = data.keys() - {"run", "seeds", "settings", "grid"}
    if unknown:
        raise InputError(f"{path}: unknown key {min(unknown)!r}, expected run, seeds, settings and grid")
    seeds = data.get("seeds", 1)
    if isinstance(seeds, int):
        seeds = list(range(seeds))
    try:
        return Sweep(data.get("run", ""), data.get("grid", {}), seeds, data.get("settings", {}))
    except InputError as failure:
        raise InputError(f"{path}: {failure}") from None


def sweep(
    plan: Sweep, out: Path, spark: SparkSession | None = None, progress: StageProgress | None = None
) -> pa.Table:
    """Make the runs of a sweep that are not done yet; returns, and writes to `results.parquet`, all of them.

    Parameters
    ----------
    out : Path
        Folder of the sweep; one that exists is taken up where it was left.
    spark : SparkSession, optional
        Where to run, one task per run; in this process, one after the other, if not given.
    progress : callable, optional
        Called with (what, done, total).
    """
    from pyarrow import parquet

    folder = out.resolve() / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    runs = plan.runs()
    done = {row["run"] for row in results(out).to_pylist() if row["error"] is None}
    todo = [settings for settings in runs if _key(plan.run, settings) not in done]
    run_numbers(spark, range(len(todo)), partial(_run_one, plan.run, todo, folder), "runs", progress)
    table = results(out)
    with whole(out / "results.parquet") as draft:
        parquet.write_table(table, draft)
    return table


def results(out: Path) -> pa.Table:
    """One row per run in a sweep's folder, done or failed: its settings, results, seconds and error."""
    import pyarrow as pa
    from pyarrow import parquet

    empty = pa.schema([("run", pa.string()), ("error", pa.string())]).empty_table()
    tables = [parquet.read_table(path) for path in sorted((out / "runs").glob("*.parquet"))]
    return pa.concat_tables([empty, *tables], promote_options="permissive")


def _function(name: str) -> Run:
    module, _, attribute = name.partition(":")
    try:
        found: Run = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        raise InputError(f"run = {name!r}: expected module:function that can be imported") from None
    return found


def _key(run: str, settings: Settings) -> str:
    """The same for the same run of the same settings, in whatever order they were given."""
    text = json.dumps([run, settings], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _run_one(run: str, todo: list[Settings], folder: Path, number: int) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    settings = todo[number]
    key = _key(run, settings)
    began = time.perf_counter()
    row: dict[str, Any] = {"run": key, **settings}
    try:
        outcome = dict(_function(run)(dict(settings)))
        taken = [name for name in outcome if name in settings or name in _OWN_COLUMNS]
        if taken:
            raise InputError(f"result {taken[0]!r}: expected a name that no setting has")
        row |= outcome
        error = None
        table = pa.Table.from_pylist([row])
    except Exception as failure:  # whatever a run raises is its result: the others go on
        error = f"{type(failure).__name__}: {failure}"
        table = pa.Table.from_pylist([{"run": key, **settings}])
    seconds = pa.array([time.perf_counter() - began])
    table = table.append_column("seconds", seconds).append_column("error", pa.array([error], pa.string()))
    with whole(folder / f"{key}.parquet") as draft:
        parquet.write_table(table, draft)
    return 1
