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

Each run writes its own file when it ends, named after a digest of everything it depends on: the experiment,
the files that it names, the settings, the code. So runs that are done are skipped when the sweep is started
again, also on another machine or with another grid. Results of another experiment or of other code have other
digests: `results.parquet` holds only the runs of the plan. If a run raises, its row has the error, and it is
tried again next time.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write, remove_drafts
from workloads.files.checked import read_parquet, write_parquet
from workloads.files.digests import digest, file_digest
from workloads.files.manifest import State, begin_manifest, write_manifest
from workloads.settings.plugins import plugin
from workloads.spark import packages
from workloads.spark.processes import run_in_processes
from workloads.spark.tasks import Spark, StageProgress, run_each

Settings = dict[str, Any]
Run = Callable[[Settings], Mapping[str, Any]]

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
        _function(self.run)

    @cached_property
    def digest(self) -> str:
        """Digest of the experiment, of the settings that are the same in every run, and of the code."""
        settings = dict(self.settings)
        if self.content:  # the contents of the file count, not its path
            settings["experiment"] = [Path(str(settings["experiment"])).stem, self.content]
        return digest([self.run, settings, _code(self.run)])

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
    progress: StageProgress | None = None,
    processes: int = 1,
) -> pa.Table:
    """Make the runs that are not done yet; return all results, and write them to `results.parquet`.

    Parameters
    ----------
    out : Path
        Folder of the sweep; one that exists is continued.
    spark : SparkSession, optional
        Where to run, one task per run; on this machine if not given.
    progress : callable, optional
        Called with (what, done, total).
    processes : int
        Runs at the same time on this machine; with 1 they run in this process.
    """
    folder = out.resolve() / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    for drafts in (out, folder):
        remove_drafts(drafts)
    runs = {plan.key(settings): settings for settings in plan.runs()}
    done = {row["run"] for row in results(out, runs).to_pylist() if row["error"] is None}
    todo = [settings for key, settings in runs.items() if key not in done]
    _write_manifest(plan, out, "running")
    # Processes, not threads: simulations hold the interpreter's lock.
    one = partial(_run_one, plan, todo, folder)
    if spark is None:
        report = partial(progress, "runs") if progress else lambda done, total: None
        run_in_processes(one, len(todo), processes, report)
    else:
        run_each(spark, len(todo), one, "runs", progress)
    table = results(out, runs)
    if lost := len(runs) - table.num_rows:
        raise InputError(
            f"{folder}: {lost} of {len(runs)} runs left no result: expected a folder that all workers share"
        )
    with atomic_write(out / "results.parquet") as draft:
        write_parquet(table, draft)
    _write_manifest(plan, out, "done")
    return table


def _write_manifest(plan: Sweep, out: Path, state: State) -> None:
    name = Path(str(plan.settings.get("experiment", plan.run))).stem
    what = {
        "run": plan.run, "grid": dict(plan.grid), "seeds": list(plan.seeds), "settings": dict(plan.settings),
        "digest": plan.digest, "code": _code(plan.run),
    }  # fmt: skip
    write_manifest(out, {**begin_manifest("sweep", name, state=state), **what})


def results(out: Path, keys: Collection[str]) -> pa.Table:
    """One row for each of these runs that has ended: its settings, results, seconds and error."""
    empty = pa.schema([("run", pa.string()), ("error", pa.string())]).empty_table()
    paths = [out / "runs" / f"{key}.parquet" for key in sorted(keys)]
    tables = [read_parquet(path) for path in paths if path.exists()]
    return pa.concat_tables([empty, *tables], promote_options="permissive")


def _function(name: str) -> Run:
    found: Run = plugin(name, "run", trusted=True)
    return found


def _code(run: str) -> str:
    """Digest of the code of a function: our packages, and its own file if it is not part of them."""
    source = getattr(sys.modules[_function(run).__module__], "__file__", None)
    outside = source is not None and not packages.has(Path(source))
    return packages.digest() + (file_digest(Path(str(source))) if outside else "")


def _run_one(plan: Sweep, todo: list[Settings], folder: Path, number: int) -> int:
    settings = todo[number]
    key = plan.key(settings)
    began = time.perf_counter()
    own: dict[str, Any] = {"run": key, "digest": plan.digest, **settings}
    error = None
    try:
        outcome = dict(_function(plan.run)(dict(settings)))
        taken = [name for name in outcome if name in settings or name in _OWN_COLUMNS]
        if taken:
            raise InputError(f"result {taken[0]!r}: expected a name that no setting has")
        table = pa.Table.from_pylist([own | outcome])
    except Exception as failure:  # the error is the result of this run, and the others go on
        error = f"{type(failure).__name__}: {failure}"
        table = pa.Table.from_pylist([own])
    seconds = pa.array([time.perf_counter() - began])
    table = table.append_column("seconds", seconds).append_column("error", pa.array([error], pa.string()))
    with atomic_write(folder / f"{key}.parquet") as draft:
        write_parquet(table, draft)
    return 1
