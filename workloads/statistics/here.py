"""Statistics of many runs in this process: the same tables as `workloads.statistics.runs` on Spark.

Files are read by threads on all cores. Spark is for tables that do not fit into memory, or for folders that
only a cluster reaches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sub2sub.errors import InputError
from workloads.files.checked import read_parquet
from workloads.spark.tasks import cores_here
from workloads.statistics.intervals import with_intervals
from workloads.statistics.run_folders import Run, rows_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def intervals_here(frame: pd.DataFrame, by: Sequence[str], metrics: Sequence[str]) -> pa.Table:
    """Mean over runs of each metric, for each combination of the columns `by`; see `intervals`.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"run": ["a", "b"], "cycle": [1, 1], "complete": [0.5, 0.7]})
    >>> intervals_here(runs, ["cycle"], ["complete"])["mean"].to_pylist()
    [0.6]
    """
    import pyarrow as pa

    if not metrics:
        raise InputError("statistics over runs: expected at least one metric")
    for name in (*by, *metrics):
        if name not in frame.columns:
            raise InputError(f"no column {name!r}: expected one of {', '.join(map(str, frame.columns))}")
    keys = list(by)
    cells = frame.melt(["run", *keys], list(metrics), "metric", "value")
    cells["value"] = cells["value"].astype(float)
    per_run = cells.dropna(subset=["value"]).groupby([*keys, "metric", "run"], dropna=False)["value"].mean()
    groups = per_run.groupby(level=[*keys, "metric"], dropna=False)
    found = groups.agg(runs="count", mean="mean", deviation="std", least="min", greatest="max").reset_index()
    return with_intervals(pa.Table.from_pandas(found, preserve_index=False), keys)


def tables_here(files: Sequence[Path]) -> pd.DataFrame:
    """Parquet tables of many runs as one; each file is a run where the table does not say."""
    import pandas as pd

    frames = []
    for file in files:
        if not file.is_file():
            raise InputError(f"{file}: expected a Parquet file")
        frame = read_parquet(file, partitioning=None).to_pandas()
        frames.append(frame if "run" in frame.columns else frame.assign(run=str(file)))
    return pd.concat(frames, ignore_index=True)


def describe_here(runs: Sequence[Run], parts: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Every statistic that the runs have tables for, by its name.

    Parameters
    ----------
    runs : sequence of Run
    parts : mapping
        Of `rings` and `delivery` the metrics, and `quantiles` of loads.
    """
    found: dict[str, pa.Table] = {}
    for table, name in (("rings", "completeness"), ("delivery", "deliveries")):
        columns = {"cycle": "int64"} | dict.fromkeys(parts[table], "double")
        if (frame := _frame(runs, table, columns)) is not None:
            found[name] = intervals_here(frame, ["group", "cycle"], parts[table])
    counts = dict.fromkeys(("peers", "messages", "failed", "bytes"), "double")
    if (frame := _frame(runs, "traffic", {"cycle": "int64", "layer": "string"} | counts)) is not None:
        names = [f"{name}_per_peer" for name in ("messages", "failed", "bytes")]
        for name in names:
            frame[name] = frame[name.removesuffix("_per_peer")] / frame["peers"].clip(lower=1)
        found["traffic"] = intervals_here(frame, ["group", "cycle", "layer"], names)
    events = _frame(runs, "events", dict.fromkeys(("cycle", "matches", "reached", "hops"), "int64"))
    if events is not None:
        found |= _events(_last(events))
    load = _frame(runs, "load", dict.fromkeys(("cycle", "received", "sent"), "int64"))
    if load is not None:
        found["load"] = _load(_last(load), parts["quantiles"])
    return found


def _frame(runs: Sequence[Run], name: str, columns: Mapping[str, str]) -> pd.DataFrame | None:
    import pyarrow as pa

    having = [run for run in runs if (run.path / f"{name}.parquet").exists()]
    with ThreadPoolExecutor(cores_here()) as pool:
        tables = list(pool.map(lambda run: rows_of(run, name, columns), having))
    return pa.concat_tables(tables).to_pandas() if tables else None


def _last(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last cycle of each run."""
    return frame[frame["cycle"] == frame.groupby("run")["cycle"].transform("max")]


def _events(events: pd.DataFrame) -> dict[str, pa.Table]:
    import pandas as pd
    import pyarrow as pa

    by_length = events.groupby(["group", "matches"]).agg(events=("run", "size"), runs=("run", "nunique"))
    lengths = by_length.reset_index().rename(columns={"matches": "length"})
    # Only an event that reached everybody has the hops of its ring's length.
    complete = events[(events["reached"] >= events["matches"]) & (events["matches"] > 0)]
    complete = complete.rename(columns={"matches": "length"}).astype({"hops": float})
    laws = [
        {"run": run, "group": group, **_line(np.log2(own["length"]), own["hops"])}
        for (run, group), own in complete.groupby(["run", "group"])
    ]
    found = {"lengths": pa.Table.from_pandas(lengths, preserve_index=False)}
    if len(complete):
        found["hops"] = intervals_here(complete, ["group", "length"], ["hops"])
        found["hops-law"] = intervals_here(pd.DataFrame(laws), ["group"], ["slope", "intercept", "r2"])
    return found


def _line(x: Any, y: Any) -> dict[str, float]:
    """Slope, intercept and determination of the least squares line; NaN where x or y does not vary."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    spread, other = float(((x - x.mean()) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
    if spread == 0.0:
        return {"slope": np.nan, "intercept": np.nan, "r2": np.nan}
    both = float(((x - x.mean()) * (y - y.mean())).sum())
    slope = both / spread
    r2 = both**2 / (spread * other) if other > 0.0 else 1.0
    return {"slope": slope, "intercept": float(y.mean() - slope * x.mean()), "r2": r2}


def _load(load: pd.DataFrame, quantiles: Sequence[float]) -> pa.Table:
    groups = load.groupby(["run", "group"])[["received", "sent"]]
    per_run = groups.quantile(list(quantiles)).rename_axis(["run", "group", "quantile"]).reset_index()
    return intervals_here(per_run, ["group", "quantile"], ["received", "sent"])
