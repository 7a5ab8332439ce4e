"""Statistics of many runs: means over runs with 95 % confidence intervals.

    final           the numbers of the runs' manifests
    completeness    per cycle: ring links in place, complete rings (Figure 5 of Sub-2-Sub)
    deliveries      per cycle: hit ratio, complete deliveries, hops, messages, duplicates, spam (Figure 6)
    traffic         per cycle and layer: messages, failures and bytes per peer
    lengths         events with a ring of each length (Figure 7a)
    hops            against ring length (Figure 7b)
    hops-law        their regression line in each run: hops = intercept + slope log2(length)
    load            messages received and sent by the peers at each quantile (Section 5)

Events and loads are those of the last cycle of each run. Runs are averaged within their group only. Tasks
(`workloads.statistics.per_run`) compute the values of each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.files.checked import read_parquet
from workloads.files.manifest import read_manifest
from workloads.statistics.figures import draw_runs
from workloads.statistics.folder import begin_folder, write_folder
from workloads.statistics.intervals import means_over_runs, values_by_run
from workloads.statistics.per_run import KEYS, values_of_runs
from workloads.statistics.run_folders import Run, find_runs, grouped, unfinished


def describe_runs(runs: Sequence[Run]) -> dict[str, pa.Table]:
    """All statistics for which the runs have tables, by name; `group` is the first column of each."""
    found = _final(runs)
    values = values_of_runs(dict(enumerate(runs)))
    for name, keys in KEYS.items():
        if name in values and len(values[name]):
            frame = values[name].assign(group=values[name]["run"].map(lambda place: runs[place].group))
            found[name] = _lengths(frame) if name == "lengths" else means_over_runs(frame, ["group", *keys])
    return found


def _final(runs: Sequence[Run]) -> dict[str, pa.Table]:
    """Means of the numbers in the manifests."""
    rows = [
        (place, run.group, name, float(value))
        for place, run in enumerate(runs)
        for name, value in run.manifest.get("final", {}).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    frame = pd.DataFrame(rows, columns=["run", "group", "metric", "value"]).dropna(subset=["value"])
    return {"final": means_over_runs(frame, ["group"])} if len(frame) else {}


def _lengths(values: pd.DataFrame) -> pa.Table:
    """How many events have a ring of each length, and the number of runs with such events."""
    counts = values.groupby(["group", "length"])["value"].agg(events="sum", runs="count").reset_index()
    return pa.Table.from_pandas(counts.astype({"events": int}), preserve_index=False)


def write_run_statistics(paths: Sequence[Path], out: Path, by: Sequence[str] = ()) -> Path:
    """Write the statistics of all finished runs in folders: tables, `statistics.md`, figures, a manifest.

    Parameters
    ----------
    by : sequence of str
        Settings whose values define groups of runs, such as ``population.size``; by default the name of the
        experiment does.
    """
    found = find_runs(paths)
    left = unfinished(found)
    runs = grouped([run for run in found if run not in left], by)
    if not runs:
        raise InputError(f"{paths[0]}: expected a workload, a sweep or finished runs, found none")
    tables = describe_runs(runs)
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


def write_sweep_statistics(folder: Path, out: Path) -> Path:
    """Write the means over seeds of a sweep's results, for each combination of its settings.

    Only runs of the plan in the manifest count, by the digest of experiment, settings and code in each row.
    """
    manifest = read_manifest(folder) or {}
    if manifest.get("state") != "done" or "digest" not in manifest:
        raise InputError(f"{folder}: expected a sweep that has ended, start it again to complete it")
    varied, fixed = list(manifest["grid"]), list(manifest["settings"])
    rows = read_parquet(folder / "results.parquet").to_pandas()
    rows = rows[(rows["digest"] == manifest["digest"]) & rows["error"].isna()]
    own = {*varied, *fixed, "seed", "run", "digest", "error"}
    metrics = [name for name in rows.columns if name not in own and rows[name].dtype.kind in "iuf"]
    settings = {name: rows[name].map(_as_key) for name in (*varied, *fixed)}
    values = values_by_run(rows.assign(**settings), [*varied, *fixed], metrics)
    table = means_over_runs(values, [*varied, *fixed])
    if not table.num_rows:
        raise InputError(f"{folder}: expected at least one run that did not fail")
    text = f"Means over seeds of the sweep {manifest.get('name')}. Intervals are at 95 %."
    if fixed:
        text += "".join(f"\n\n    {name} = {manifest['settings'][name]}" for name in fixed)
    tables = {"sweep": table}
    begin_folder(out)
    return write_folder(out, "Statistics of a sweep", text, tables, [folder], ["sweep"], hidden=fixed)


def _as_key(value: object) -> object:
    """A setting as a key for grouping; lists and tables as text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)
