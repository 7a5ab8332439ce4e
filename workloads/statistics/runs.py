"""Statistics of many runs: means over runs with 95 % confidence intervals.

    final           the numbers of the runs' manifests
    completeness    per cycle: ring links in place, complete rings (Figure 5 of Sub-2-Sub)
    deliveries      per cycle: hit ratio, complete deliveries, hops, messages, duplicates, spam (Figure 6)
    traffic         per cycle and layer: messages, failures and bytes per peer
    lengths         events with a ring of each length (Figure 7a)
    hops            against ring length (Figure 7b)
    hops-law        the line through them: hops = intercept + slope log2(length), run by run
    load            messages received and sent by the peers at each quantile (Section 5)

Of events and loads, the last cycle of each run counts. Runs are averaged within their group only. Here in
Spark SQL; without a session, `workloads.statistics.here` computes the same in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sub2sub.errors import InputError
from workloads.files.manifest import read_manifest
from workloads.spark.tasks import StageProgress, collect
from workloads.statistics.figures import draw_runs
from workloads.statistics.folder import begin_folder, write_folder
from workloads.statistics.here import describe_here, intervals_here, tables_here
from workloads.statistics.intervals import intervals, read_runs
from workloads.statistics.run_folders import Run, find_runs, grouped, read_table, unfinished

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)

_RINGS = ("links", "complete")
_DELIVERIES = (
    "hit_ratio", "complete", "hops_mean", "hops_max", "messages_per_event", "messages_per_delivery",
    "duplicates_per_delivery", "spam", "failed",
)  # fmt: skip


def describe_runs(
    spark: SparkSession | None, runs: Sequence[Run], progress: StageProgress | None = None
) -> dict[str, pa.Table]:
    """Every statistic that the runs have tables for, by its name; `group` is the first column of each."""
    if spark is None:
        parts_here = {"rings": _RINGS, "delivery": _DELIVERIES, "quantiles": QUANTILES}
        return {**_final(runs, None), **describe_here(runs, parts_here)}
    parts: list[Callable[[SparkSession, Sequence[Run]], dict[str, pa.Table]]] = [
        _final_numbers, _completeness, _deliveries, _traffic, _events, _load,
    ]  # fmt: skip
    found: dict[str, pa.Table] = {}
    for done, part in enumerate(parts):
        if progress is not None:
            progress("statistics", done, len(parts))
        found |= part(spark, runs)
    if progress is not None:
        progress("statistics", len(parts), len(parts))
    return found


def _final_numbers(spark: SparkSession, runs: Sequence[Run]) -> dict[str, pa.Table]:
    return _final(runs, spark)


def _final(runs: Sequence[Run], spark: SparkSession | None) -> dict[str, pa.Table]:
    import pyarrow as pa

    numbers = [
        {"run": str(run.path.resolve()), "group": run.group}
        | {name: float(value) for name, value in run.manifest.get("final", {}).items() if _is_number(value)}
        for run in runs
    ]
    names = list(dict.fromkeys(name for row in numbers for name in row))[2:]
    if not names:
        return {}
    types = [pa.field("run", pa.string()), pa.field("group", pa.string())]
    schema = pa.schema(types + [pa.field(name, pa.float64()) for name in names])
    table = pa.Table.from_pylist(numbers, schema=schema)
    if spark is None:
        return {"final": intervals_here(table.to_pandas(), ["group"], names)}
    return {"final": intervals(spark.createDataFrame(table), ["group"], names)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _per_cycle(
    spark: SparkSession, runs: Sequence[Run], table: str, name: str, metrics: Sequence[str]
) -> dict[str, pa.Table]:
    columns = {"cycle": "int64"} | dict.fromkeys(metrics, "double")
    frame = read_table(spark, runs, table, columns)
    return {} if frame is None else {name: intervals(frame, ["group", "cycle"], metrics)}


def _completeness(spark: SparkSession, runs: Sequence[Run]) -> dict[str, pa.Table]:
    return _per_cycle(spark, runs, "rings", "completeness", _RINGS)


def _deliveries(spark: SparkSession, runs: Sequence[Run]) -> dict[str, pa.Table]:
    return _per_cycle(spark, runs, "delivery", "deliveries", _DELIVERIES)


def _traffic(spark: SparkSession, runs: Sequence[Run]) -> dict[str, pa.Table]:
    counts = dict.fromkeys(("peers", "messages", "failed", "bytes"), "double")
    frame = read_table(spark, runs, "traffic", {"cycle": "int64", "layer": "string"} | counts)
    if frame is None:
        return {}
    shares = spark.sql(
        """select run, `group`, cycle, layer, messages / greatest(peers, 1) as messages_per_peer,
                  failed / greatest(peers, 1) as failed_per_peer, bytes / greatest(peers, 1) as bytes_per_peer
           from {traffic}""",
        traffic=frame,
    )
    metrics = ("messages_per_peer", "failed_per_peer", "bytes_per_peer")
    return {"traffic": intervals(shares, ["group", "cycle", "layer"], metrics)}


def _last_cycle(spark: SparkSession, frame: DataFrame) -> DataFrame:
    return spark.sql(
        """select * except (latest) from (
             select *, max(cycle) over (partition by run) as latest from {rows}) where cycle = latest""",
        rows=frame,
    )


def _events(spark: SparkSession, runs: Sequence[Run]) -> dict[str, pa.Table]:
    columns = dict.fromkeys(("cycle", "matches", "reached", "hops"), "int64")
    frame = read_table(spark, runs, "events", columns)
    if frame is None:
        return {}
    events = _last_cycle(spark, frame).cache()
    lengths = spark.sql(
        """select `group`, matches as length, count(*) as events, count(distinct run) as runs
           from {events} group by `group`, matches order by `group`, matches""",
        events=events,
    )
    # Only an event that reached everybody has the hops of its ring's length.
    complete = spark.sql(
        "select run, `group`, matches as length, cast(hops as double) as hops from {events}"
        " where reached >= matches and matches > 0",
        events=events,
    )
    laws = spark.sql(
        """select run, `group`, regr_slope(hops, log2(length)) as slope,
                  regr_intercept(hops, log2(length)) as intercept, regr_r2(hops, log2(length)) as r2
           from {complete} group by run, `group`""",
        complete=complete,
    )
    found = {
        "lengths": collect(lengths),
        "hops": intervals(complete, ["group", "length"], ["hops"]),
        "hops-law": intervals(laws, ["group"], ["slope", "intercept", "r2"]),
    }
    events.unpersist()
    return found


def _load(spark: SparkSession, runs: Sequence[Run]) -> dict[str, pa.Table]:
    frame = read_table(spark, runs, "load", dict.fromkeys(("cycle", "received", "sent"), "int64"))
    if frame is None:
        return {}
    grid = f"array({', '.join(f'{q}D' for q in QUANTILES)})"
    per_run = spark.sql(
        f"""select run, `group`, quantile, received[k] as received, sent[k] as sent from (
              select run, `group`, percentile(received, {grid}) as received, percentile(sent, {grid}) as sent
              from {{load}} group by run, `group`)
            lateral view posexplode({grid}) as k, quantile""",
        load=_last_cycle(spark, frame),
    )
    return {"load": intervals(per_run, ["group", "quantile"], ["received", "sent"])}


def write_run_statistics(
    spark: SparkSession | None,
    paths: Sequence[Path],
    out: Path,
    by: Sequence[str] = (),
    progress: StageProgress | None = None,
) -> Path:
    """Write the statistics of all finished runs in folders: tables, `statistics.md`, figures, a manifest.

    Parameters
    ----------
    by : sequence of str
        Settings whose values separate groups of runs, such as ``population.size``; the experiment's name
        if not given.
    """
    found = find_runs(paths)
    left = unfinished(found)
    runs = grouped([run for run in found if run not in left], by)
    if not runs:
        raise InputError(f"{paths[0]}: expected a workload, a sweep or finished runs, found none")
    tables = describe_runs(spark, runs, progress)
    if not tables:
        raise InputError(f"{runs[0].path}: expected tables such as rings.parquet, found none")
    groups = list(dict.fromkeys(run.group for run in runs))
    kinds = groups[0] if len(groups) == 1 else f"{len(groups)} groups: {', '.join(groups)}"
    text = f"{len(runs)} runs of {kinds}. Intervals are at 95 %."
    if left:
        names = ", ".join(f"{run.path} ({run.manifest['state']})" for run in left[:5])
        text += f"\n\n{len(left)} runs that are not done were left out: {names}{' ...' * (len(left) > 5)}."
    begin_folder(out)
    draw_runs(tables, out)
    shown = [name for name in ("final", "hops-law", "load") if name in tables] or list(tables)[:1]
    return write_folder(out, f"Statistics of {len(runs)} runs", text, tables, paths, shown)


def write_sweep_statistics(spark: SparkSession | None, folder: Path, out: Path) -> Path:
    """Write the means over seeds of a sweep's results, for each combination of its settings.

    Only runs of the plan in the manifest count, by the digest of experiment, settings and code in each row.
    """
    manifest = read_manifest(folder) or {}
    if manifest.get("state") != "done" or "digest" not in manifest:
        raise InputError(f"{folder}: expected a sweep that has ended, start it again to take it up")
    varied, fixed = list(manifest["grid"]), list(manifest["settings"])
    own = {*varied, *fixed, "seed", "run", "digest", "error"}
    if spark is None:
        here = tables_here([folder / "results.parquet"])
        here = here[(here["digest"] == manifest["digest"]) & here["error"].isna()]
        metrics = [name for name in here.columns if name not in own and here[name].dtype.kind in "iuf"]
        settings = {name: here[name].map(_as_key) for name in (*varied, *fixed)}
        table = intervals_here(here.assign(**settings), [*varied, *fixed], metrics)
    else:
        rows = read_runs(spark, [folder / "results.parquet"])
        frame = rows.where(rows["digest"] == manifest["digest"]).where("error is null")
        numbers = ("double", "float", "bigint", "int", "smallint", "tinyint")
        metrics = [name for name, kind in frame.dtypes if name not in own and kind in numbers]
        table = intervals(frame, [*varied, *fixed], metrics)
    if not table.num_rows:
        raise InputError(f"{folder}: expected at least one run that did not fail")
    text = f"Means over seeds of the sweep {manifest.get('name')}. Intervals are at 95 %."
    if fixed:
        text += "".join(f"\n\n    {name} = {manifest['settings'][name]}" for name in fixed)
    tables = {"sweep": table}
    begin_folder(out)
    return write_folder(out, "Statistics of a sweep", text, tables, [folder], ["sweep"], hidden=fixed)


def _as_key(value: object) -> object:
    """A setting as a key of groups; lists and tables as their text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def write_table_statistics(
    spark: SparkSession | None, files: Sequence[Path], by: Sequence[str], metrics: Sequence[str], out: Path
) -> Path:
    """Write the means over runs of any tables, one file per run."""
    if spark is None:
        table = intervals_here(tables_here(files), by, metrics)
    else:
        table = intervals(read_runs(spark, files), by, metrics)
    text = f"{len(files)} tables. Intervals are at 95 %."
    begin_folder(out)
    return write_folder(out, "Statistics over runs", text, {"runs": table}, files, ["runs"])
