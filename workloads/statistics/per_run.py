"""The results of each run: the values that statistics average over runs.

The tables of all runs are reduced to one value for each run, statistic, key and metric.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workloads.statistics.intervals import values_by_run
from workloads.statistics.run_folders import Run, rows_of

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)
KEYS: Mapping[str, tuple[str, ...]] = {
    "completeness": ("cycle",), "deliveries": ("cycle",), "traffic": ("cycle", "layer"),
    "lengths": ("length",), "hops": ("length",), "hops-law": (), "load": ("quantile",),
}  # fmt: skip
"""Columns that distinguish the values of a statistic, besides run and metric."""

_RINGS = ("links", "complete")
_DELIVERIES = (
    "hit_ratio", "complete", "hops_mean", "hops_max", "messages_per_event", "messages_per_delivery",
    "duplicates_per_delivery", "spam", "failed",
)  # fmt: skip
_COSTS = ("messages", "failed", "bytes")


def values_of_runs(runs: Mapping[int, Run]) -> dict[str, pd.DataFrame]:
    """The values of runs, given by their numbers, by statistic: run, the keys of `KEYS`, metric, value."""
    found: dict[str, pd.DataFrame] = {}
    for name, table, metrics in (("completeness", "rings", _RINGS), ("deliveries", "delivery", _DELIVERIES)):
        frame = _frame(runs, table, {"cycle": "int64"} | dict.fromkeys(metrics, "double"))
        if frame is not None:
            found[name] = values_by_run(frame, KEYS[name], metrics)
    counts = dict.fromkeys(("peers", *_COSTS), "double")
    traffic = _frame(runs, "traffic", {"cycle": "int64", "layer": "string"} | counts)
    if traffic is not None:
        shares = {f"{name}_per_peer": traffic[name] / traffic["peers"].clip(lower=1) for name in _COSTS}
        found["traffic"] = values_by_run(traffic.assign(**shares), KEYS["traffic"], list(shares))
    events = _frame(runs, "events", dict.fromkeys(("cycle", "matches", "reached", "hops"), "int64"))
    if events is not None:
        found |= _of_events(_last_cycle(events).rename(columns={"matches": "length"}))
    load = _frame(runs, "load", dict.fromkeys(("cycle", "received", "sent"), "int64"))
    if load is not None:
        groups = _last_cycle(load).groupby("run")[["received", "sent"]]
        quantiles = groups.quantile(list(QUANTILES)).rename_axis(["run", "quantile"]).reset_index()
        found["load"] = values_by_run(quantiles, KEYS["load"], ["received", "sent"])
    return found


def _frame(runs: Mapping[int, Run], name: str, columns: Mapping[str, str]) -> pd.DataFrame | None:
    having = {place: run.path for place, run in runs.items() if (run.path / f"{name}.parquet").exists()}
    frames = [rows_of(path, name, columns).to_pandas().assign(run=place) for place, path in having.items()]
    return pd.concat(frames, ignore_index=True) if frames else None


def _last_cycle(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last cycle of each run."""
    return frame[frame["cycle"] == frame.groupby("run")["cycle"].transform("max")]


def _of_events(events: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Events with rings of each length, their hops, and the regression line of hops over log2(length)."""
    lengths = events.groupby(["run", "length"]).size().rename("value").reset_index()
    found = {"lengths": lengths.assign(metric="events")}
    # Hops against ring length are defined only for events that reached all subscribers.
    complete = events[(events["reached"] >= events["length"]) & (events["length"] > 0)]
    if len(complete):
        laws = [
            {"run": run, **_line(np.log2(own["length"]), own["hops"])} for run, own in complete.groupby("run")
        ]
        found["hops"] = values_by_run(complete, KEYS["hops"], ["hops"])
        found["hops-law"] = values_by_run(pd.DataFrame(laws), (), ["slope", "intercept", "r2"])
    return found


def _line(x: pd.Series[float], y: pd.Series[float]) -> dict[str, float]:
    """Slope, intercept and r^2 of the least squares line; NaN if x does not vary, r^2 of 1 if y does not."""
    from scipy import stats

    if x.nunique() < 2:
        return {"slope": np.nan, "intercept": np.nan, "r2": np.nan}
    found = stats.linregress(x, y)
    r2 = found.rvalue**2 if y.nunique() > 1 else 1.0
    return {"slope": found.slope, "intercept": found.intercept, "r2": r2}
