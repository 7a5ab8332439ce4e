"""A reproduction in three parts: a plan of what is run, claims, and charts.

Claims and charts are functions of the measured tables alone. So verdicts can be tested with any tables, and
an earlier run can be judged and drawn again without running it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from sims.reproduce.claims import Claim, read_claims, write_claims
from sims.runs.folder import RunFolder, RunWriter, is_run_folder
from sub2sub.errors import InputError
from workloads.charts.chart import Sheet
from workloads.charts.drawing import drawn
from workloads.sweeps.scheduler import Progress, Unit, key_of, read_unit, run_units, seconds_of

if TYPE_CHECKING:
    from workloads.spark.tasks import Spark

Tables = Mapping[str, pd.DataFrame]
"""Measured tables by name."""

UNITS = "units"
_RUN = "sims.reproduce.reproduction:run_unit"


def grid(**values: Iterable[Any]) -> list[dict[str, Any]]:
    """Every combination of some settings, the last varying fastest.

    Examples
    --------
    >>> grid(loss=[0.0, 0.1], seed=range(1, 2))
    [{'loss': 0.0, 'seed': 1}, {'loss': 0.1, 'seed': 1}]
    """
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


@dataclass(frozen=True)
class Plan:
    """What is run for a reproduction.

    Attributes
    ----------
    scale : str
        How much is measured, as captions and verdicts state it: "1,000 peers, 1,000 events, 3 seeds".
    unit : callable
        A function of a module that returns a table (a DataFrame or rows), or several by name.
    settings : sequence of mapping
        The arguments of each unit; its tables get them as columns.
    fixed : mapping
        Arguments that are the same for all units.
    table : str
        Name of the table if a unit returns one.
    """

    scale: str
    unit: Callable[..., Any]
    settings: Sequence[Mapping[str, Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    table: str = "rows"

    def units(self) -> list[Unit]:
        """The units, for the scheduler."""
        common = {
            "function": f"{self.unit.__module__}:{self.unit.__name__}", "fixed": dict(self.fixed),
            "table": self.table,
        }  # fmt: skip
        settings = [{**common, "own": dict(own)} for own in self.settings]
        return [Unit(_RUN, each, key_of(_RUN, each)) for each in settings]


def run_unit(settings: Mapping[str, Any]) -> pa.Table:
    """Run one unit of a plan; its tables by name, as bytes."""
    module, _, name = settings["function"].partition(":")
    own = settings["own"]
    found = getattr(importlib.import_module(module), name)(**own, **settings["fixed"])
    tables = found if isinstance(found, dict) else {settings["table"]: found}
    packed: dict[str, list[Any]] = {"table": [], "rows": []}
    for name, rows in tables.items():
        frame = pd.DataFrame(rows)
        more = {k: value for k, value in own.items() if k not in frame and not isinstance(value, list)}
        frame = frame.assign(**more)
        sink = pa.BufferOutputStream()
        table = pa.Table.from_pandas(frame[[*more, *frame.columns.drop([*more])]], preserve_index=False)
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        packed["table"].append(name)
        packed["rows"].append(sink.getvalue().to_pybytes())
    return pa.table(packed)


def gathered(tables: Iterable[pa.Table]) -> dict[str, pd.DataFrame]:
    """The tables of several units, by name, one below the other."""
    parts: dict[str, list[pd.DataFrame]] = {}
    for table in tables:
        for name, rows in zip(*table.to_pydict().values(), strict=True):
            parts.setdefault(name, []).append(pa.ipc.open_stream(rows).read_pandas())
    return {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}


Judge = Callable[[Tables], Iterable[Claim]]
Charts = Callable[[Tables], Sheet | Mapping[str, Sheet]]
Parts = tuple[Callable[[bool, int], Plan], Judge, Charts]
"""A reproduction in its module: plan(quick, seed), judge(tables), charts(tables)."""


@dataclass(frozen=True)
class Reproduction:
    """One figure, table or statement of a paper.

    Attributes
    ----------
    id, title : str
    plan : callable
        plan(quick, seed); reproductions with equal units share them.
    judge : callable
        judge(tables) returns the claims.
    charts : callable
        charts(tables) returns the figure, or figures by name, its own under "".
    alone : bool
        Whether its units measure seconds, so that nothing else may run beside them.
    """

    id: str
    title: str
    plan: Callable[[bool, int], Plan]
    judge: Judge
    charts: Charts
    alone: bool = False

    def _begin(self, out: Path, quick: bool, overwrite: bool, seed: int) -> RunWriter:
        """Begin the run folder; a full run is not replaced by a quick one."""
        folder = out / self.id
        replaced = RunFolder.open(folder).manifest if overwrite and is_run_folder(folder) else {}
        if quick and not replaced.get("quick", True):
            raise InputError(f"{folder}: has a full run, which a quick one does not replace: use --out")
        return RunWriter.create(folder, kind="reproduce", name=self.id, seed=seed, replace=overwrite)

    def is_done(self, out: Path, quick: bool, seed: int) -> bool:
        """Whether a folder has a finished run of this form and seed."""
        folder = out / self.id
        found = RunFolder.open(folder).manifest if is_run_folder(folder) else {}
        return (found.get("state"), found.get("quick"), found.get("seed")) == ("done", quick, seed)

    def again(self, out: Path, formats: Sequence[str] = ("png",)) -> list[Claim]:
        """Judge and draw an earlier run from its tables, without running it.

        Raises
        ------
        InputError
            For a folder without a finished run of this reproduction.
        """
        run = RunFolder.open(out / self.id)
        if run.manifest["state"] != "done" or "scale" not in run.manifest:
            raise InputError(f"{run.path}: expected a finished run of {self.id}")
        tables = {name: run.table(name).to_pandas() for name in run.tables()}
        found = self._evaluate(tables)  # before the run is opened: it stays as it is if this fails
        with RunWriter.reopen(run.path) as writer:
            return self._finish(writer, *found, formats)

    def _evaluate(self, tables: Tables) -> tuple[list[Claim], Sheet | Mapping[str, Sheet]]:
        return list(self.judge(tables)), self.charts(tables)

    def _finish(
        self,
        writer: RunWriter,
        judged: list[Claim],
        sheets: Sheet | Mapping[str, Sheet],
        formats: Sequence[str],
    ) -> list[Claim]:
        """Write claims and figures."""
        scale = f"{writer.manifest['scale']}{' (quick form)' if writer.manifest['quick'] else ''}"
        claims = [replace(claim, id=self.id, scale=scale) for claim in judged]
        write_claims(writer.path, claims)
        for name, sheet in ({"": sheets} if isinstance(sheets, Sheet) else sheets).items():
            with drawn(sheet, f"{scale}, first seed {writer.manifest['seed']}") as figure:
                writer.write_figure(f"{self.id}{'-' if name else ''}{name}", figure, formats)
        return claims


def reproduce(
    chosen: Sequence[Reproduction],
    out: Path,
    *,
    quick: bool = False,
    seed: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    processes: int = 1,
    spark: Spark = None,
    progress: Progress | None = None,
    formats: Sequence[str] = ("png",),
) -> dict[str, list[Claim] | str]:
    """Run reproductions, each into its run folder `out/<id>/`: claims, figures, tables and manifest.

    Units that have a result in `out/units/` are not run again, so a plan that was interrupted continues.

    Parameters
    ----------
    resume : bool
        Keep finished runs of this form and seed.
    overwrite : bool
        Replace runs, and run all of their units.
    processes, spark, progress
        See `workloads.sweeps.scheduler.run_units`.

    Returns
    -------
    dict
        By id, the claims, or why there are none: a unit that failed, or a folder that has a run.
    """
    found: dict[str, list[Claim] | str] = {}
    kept = {each.id for each in chosen if resume and each.is_done(out, quick, seed)}
    todo = {each.id: each for each in chosen if each.id not in kept}
    writers: dict[str, RunWriter] = {}
    for each in chosen:
        try:
            if each.id in kept:
                found[each.id] = read_claims(out / each.id)
            else:
                writers[each.id] = each._begin(out, quick, overwrite or resume, seed)
        except InputError as error:
            found[each.id] = str(error)
    plans = {id: todo[id].plan(quick, seed) for id in writers}
    units = {id: plan.units() for id, plan in plans.items()}
    if overwrite:
        for unit in (unit for own in units.values() for unit in own):
            (out / UNITS / f"{unit.key}.parquet").unlink(missing_ok=True)
    reasons: dict[str, str] = {}
    groups = [
        {unit.key: unit for id, own in units.items() if todo[id].alone == alone for unit in own}
        for alone in (False, True)
    ]
    together, alone = (list(group.values()) for group in groups)
    before, total = 0, len(together) + len(alone)
    for group, how in ((together, {"processes": processes, "spark": spark}), (alone, {})):
        report = _part(progress, before, total)
        reasons |= run_units(group, out / UNITS, progress=report, **how)  # type: ignore[arg-type]
        before += len(group)
    for id, writer in writers.items():
        failed = [reasons[unit.key] for unit in units[id] if unit.key in reasons]
        try:
            with writer:
                if failed:
                    raise InputError(f"{len(failed)} of {len(units[id])} units have no result: {failed[0]}")
                results = [read_unit(out / UNITS, unit) for unit in units[id]]
                took = sum(map(seconds_of, results))
                writer.manifest |= {"quick": quick, "scale": plans[id].scale, "unit_seconds": round(took, 3)}
                tables = gathered(results)
                for name, table in tables.items():
                    writer.write_table(name, {column: table[column].to_numpy() for column in table})
                found[id] = todo[id]._finish(writer, *todo[id]._evaluate(tables), formats)
        except Exception as error:  # the others are still judged
            found[id] = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return {each.id: found[each.id] for each in chosen}


def _part(progress: Progress | None, before: int, total: int) -> Progress | None:
    """The progress of some of all units, reported as that of all."""
    return None if progress is None else lambda done, _: progress(before + done, total)
