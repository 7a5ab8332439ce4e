"""Charts of the tables of runs: rings, delivery, ring lengths, hops, load, cost.

Each function gets the runs by their names in the page, and returns charts that show all of them; no charts if
no run has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.report.sentences import fault_marks
from sims.report.sources import Source
from workloads.charts.chart import Chart, Series

Runs = Mapping[str, Source]
Columns = dict[str, NDArray[Any]]
BINS = 40


def _charts(
    runs: Runs, table: str, title: str, unit: str, columns: Mapping[str, str], *, scale: float = 1.0,
    top: float | None = None, caption: str = "",
) -> list[Chart]:  # fmt: skip
    """Chart columns of a table over cycles: one chart for a single run, one per column for several runs."""
    marks = faults_of(runs)
    series: dict[str, list[Series]] = {}
    for name, run in runs.items():
        found = run.columns(table, "cycle", *columns)
        if found is None:
            continue
        for column, what in columns.items():
            alone = len(runs) == 1
            curve = Series(what if alone else name, found["cycle"], scale * found[column].astype(float))
            series.setdefault(title if alone else what.capitalize(), []).append(curve)
    return [
        Chart(heading, "cycle", unit, curves, caption, top=top, marks=marks)
        for heading, curves in series.items()
    ]


def faults_of(runs: Runs) -> list[tuple[float, str]]:
    """Return cycles and labels of the faults; a fault that all runs have is listed once."""
    marks: dict[tuple[float, str], list[str]] = {}
    for name, run in runs.items():
        for mark in (mark for fault in run.faults() for mark in fault_marks(fault)):
            marks.setdefault(mark, []).append(name)
    return [
        (at, text if len(names) == len(runs) else f"{', '.join(names)}: {text}")
        for (at, text), names in marks.items()
    ]


TIMES = {"median": "median", "p99": "99th percentile", "max": "maximum"}


def rings(runs: Runs) -> list[Chart]:
    """Ring construction."""
    return _charts(
        runs, "rings", "Rings, per cycle", "%",
        {"complete": "complete rings", "links": "ring links in place"}, scale=100, top=103,
        caption="A ring is complete when every subscriber of its event knows the next and the previous one; "
        "an event that reaches one of them then reaches all.",
    )  # fmt: skip


def views(runs: Runs) -> list[Chart]:
    """Membership views of hpmcast."""
    return _charts(
        runs, "views", "Membership views, per cycle", "%",
        {
            "whole": "participants with all views right", "dead": "entries dead",
            "missing": "entries missing",
        },
        scale=100, top=103, caption="Views are compared with those that participants should have.",
    )  # fmt: skip


def delivery(runs: Runs) -> list[Chart]:
    """Delivery of test events over the cycles."""
    timed = _with(runs, "delivery", "last_ms_median")
    return [
        *_charts(
            runs, "delivery", "Delivery, per cycle", "%",
            {"hit_ratio": "subscribers reached", "complete": "events that reached all of theirs"},
            scale=100, top=103,
            caption="Test events are published over the views as they are at the end of a cycle.",
        ),
        *_charts(
            runs, "delivery", "Cost of a delivery", "per delivery",
            {f"{what}_per_delivery": f"{what} per delivery" for what in ("messages", "duplicates")},
            caption="Messages sent for each subscriber reached; a copy of an event it has is a duplicate.",
        ),
        *_charts(
            runs, "delivery", "Hops to the last subscriber", "hops, mean over events",
            {"hops_mean": "hops to the last subscriber"},
        ),
        *_charts(
            timed, "delivery", "Milliseconds to the last subscriber", "ms, over events",
            {f"last_ms_{what}": f"to the last, {name}" for what, name in TIMES.items()},
        ),
        *_charts(
            timed, "delivery", "Milliseconds to a delivery", "ms, over deliveries",
            {f"ms_{what}": f"to a delivery, {name}" for what, name in TIMES.items()},
        ),
    ]  # fmt: skip


def _with(runs: Runs, table: str, column: str) -> Runs:
    """Return the runs whose table has a column, such as times, which only networks with latencies have."""
    found = {name: run.table(table) for name, run in runs.items()}
    return {name: runs[name] for name, own in found.items() if own is not None and column in own.column_names}


def _by_time(runs: Runs) -> list[Series]:
    """Share of the events that have reached their last subscriber, by milliseconds."""
    found = []
    for name, run in _with(runs, "events", "last_ms").items():
        events = _last_cycle(run.columns("events", "last_ms"))
        took = None if events is None else np.sort(events["last_ms"][~np.isnan(events["last_ms"])])
        if took is not None and took.size:
            share = 100 * np.arange(1, took.size + 1) / took.size
            found.append(Series(name if len(runs) > 1 else "events", took.astype(float), share))
    return found


def ring_lengths(runs: Runs) -> list[Chart]:
    """Number of subscribers per event."""
    counted = {name: _lengths(run) for name, run in runs.items()}
    series = [
        Series(name if len(runs) > 1 else "events", *found, shape="line" if len(runs) > 1 else "points")
        for name, found in counted.items()
        if found is not None
    ]
    return _some(
        Chart(
            "Subscribers per event", "subscribers that match (ring length)", "events", series, log_x=True,
            log_y=True, caption="How many test events have a ring of each length.",
        )
    )  # fmt: skip


def _lengths(run: Source) -> tuple[NDArray[Any], NDArray[Any]] | None:
    written = run.columns("ring-lengths", "length", "events")
    if written is not None:
        length, count = written["length"], written["events"]
    else:
        events = _last_cycle(run.columns("events", "matches"))
        if events is None:
            return None
        length, count = np.unique(events["matches"], return_counts=True)
    some = length > 0
    return (length[some], count[some]) if some.any() else None


def hops(runs: Runs) -> list[Chart]:
    """Number of hops to subscribers."""
    by_length, by_hops = [], []
    for name, run in runs.items():
        events = _last_cycle(run.columns("events", "matches", "hops"))
        if events is None:
            continue
        reached = (events["hops"] >= 0) & (events["matches"] > 0)
        if not reached.any():
            continue
        matches, took = events["matches"][reached], events["hops"][reached]
        length, place = np.unique(matches, return_inverse=True)
        label = name if len(runs) > 1 else "mean hops"
        by_length.append(Series(label, length, np.bincount(place, took) / np.bincount(place), "points"))
        share = 100 * np.bincount(took) / took.size
        by_hops.append(
            Series(
                name if len(runs) > 1 else "events", np.arange(share.size), share,
                "bars" if len(runs) == 1 else "line",
            )
        )  # fmt: skip
    return _some(
        Chart(
            "Hops against ring length", "subscribers that match (ring length)", "hops to the last of them",
            by_length, log_x=True,
            caption="On a logarithmic axis a straight line means logarithmic growth.",
        ),
        Chart("Hops to the last subscriber", "hops", "% of events", by_hops),
        Chart("Time to the last subscriber", "ms", "% of events", _by_time(runs)),
    )  # fmt: skip


def load(runs: Runs) -> list[Chart]:
    """Messages that peers receive and send for each event they match."""
    titles = {"received": "copies received", "sent": "messages sent"}
    series = []
    for name, run in runs.items():
        found = _last_cycle(run.columns("load", "taken", *titles))
        if found is None:
            continue
        some = found["taken"] > 0
        for column, title in titles.items():
            if some.any():
                label = title if len(runs) == 1 else f"{name}: {title}"
                series.append(_histogram(label, found[column][some] / found["taken"][some]))
    return _some(
        Chart(
            "Load per event", "messages per event that a peer wants, mean over its events", "% of peers",
            series, caption="Each peer counts once, with its mean over all test events it subscribes to.",
        )
    )  # fmt: skip


def _histogram(label: str, values: NDArray[Any]) -> Series:
    top = max(float(values.max()), 1.0)
    count, edges = np.histogram(values, BINS, (0.0, top))
    return Series(label, (edges[1:] + edges[:-1]) / 2, 100 * count / values.size)


def cost(runs: Runs) -> list[Chart]:
    """Cost of upkeep: by layer for one run, in total for several runs."""
    marks = faults_of(runs)
    units = (("messages", "messages", 1.0), ("bytes", "kB", 1e-3), ("failed", "failed messages", 1.0))
    charts = []
    for unit, title, scale in units:
        series = [curve for name, run in runs.items() for curve in _upkeep(runs, name, run, unit, scale)]
        if unit != "failed" or any(np.any(np.asarray(curve.y) > 0) for curve in series):
            heading, axis = f"Upkeep: {title} per peer and cycle", f"{title} per peer"
            charts.append(Chart(heading, "cycle", axis, series, marks=marks))
    return _some(*charts)


def _upkeep(runs: Runs, name: str, run: Source, unit: str, scale: float) -> list[Series]:
    found = run.columns("traffic", "cycle", "layer", "peers", unit)
    if found is None:
        return []
    each = scale * found[unit] / np.maximum(found["peers"], 1)
    if len(runs) > 1:
        cycles, place = np.unique(found["cycle"], return_inverse=True)
        return [Series(name, cycles, np.bincount(place, each))]
    layers = dict.fromkeys(found["layer"].tolist())
    return [
        Series(str(layer), found["cycle"][found["layer"] == layer], each[found["layer"] == layer])
        for layer in layers
    ]


def _last_cycle(columns: Columns | None) -> Columns | None:
    """Return the rows of the last cycle."""
    if columns is None or "cycle" not in columns or not columns["cycle"].size:
        return columns
    last = columns["cycle"] == columns["cycle"].max()
    return {name: values[last] for name, values in columns.items()}


def _some(*charts: Chart) -> list[Chart]:
    """Return the charts that have data."""
    return [chart for chart in charts if any(np.size(series.x) for series in chart.series)]


CURVES: dict[str, tuple[tuple[str, ...], Callable[[Runs], list[Chart]]]] = {
    "Ring construction": (("rings",), rings),
    "Delivery": (("delivery",), delivery),
    "Ring lengths": (("events", "ring-lengths"), ring_lengths),
    "Hops": (("events",), hops),
    "Load": (("load",), load),
    "Cost of upkeep": (("traffic",), cost),
}
"""Sections of a report: the tables any of which it takes, and what draws it."""

TABLES = {"rings": rings, "views": views, "delivery": delivery, "load": load, "traffic": cost}
"""Tables of a run that have a figure of their own."""
