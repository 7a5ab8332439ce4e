"""What the tables of runs have to show, as charts: rings, delivery, ring lengths, hops, load, cost.

Each function takes the runs by the name they go by in the page, and gives charts in which all of them appear
side by side; none if no run has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.report.charts import Chart, Series
from sims.report.sources import Source

__all__ = ["CURVES", "faults_of"]

Runs = Mapping[str, Source]
Columns = dict[str, NDArray[Any]]
BINS = 40


def _curves(
    runs: Runs, table: str, columns: Mapping[str, str], scale: float = 1.0, x: str = "cycle"
) -> list[Series]:
    """Columns of a table over another; a run's name goes with a column's title where there are several."""
    series = []
    for name, run in runs.items():
        found = run.columns(table, x, *columns)
        if found is None:
            continue
        for column, title in columns.items():
            label = title if len(runs) == 1 else name if len(columns) == 1 else f"{name}: {title}"
            series.append(Series(label, found[x], scale * found[column].astype(float)))
    return series


def faults_of(runs: Runs) -> list[tuple[float, str]]:
    """When something happens to the population once, and what."""
    marks: dict[tuple[float, str], None] = {}
    for run in runs.values():
        for fault in run.settings().get("faults", []):
            for key in ("at", "from", "until"):
                if isinstance(fault, Mapping) and isinstance(fault.get(key), int | float):
                    what = str(fault.get("kind", "fault")) + (" ends" if key == "until" else "")
                    marks[float(fault[key]), what] = None
    return list(marks)


def rings(runs: Runs) -> list[Chart]:
    """Ring construction."""
    marks = faults_of(runs)
    columns = {"complete": "complete rings", "links": "ring links in place"}
    if len(runs) == 1:
        series = _curves(runs, "rings", columns, 100)
        return _some(
            Chart(
                "Rings, per cycle", "cycle", "%", series, top=103, marks=marks,
                caption="A ring is complete when every subscriber of its event knows the next and the "
                "previous one; an event that reaches one of them then reaches all.",
            )
        )  # fmt: skip
    charts = []
    for column, title in columns.items():
        series = _curves(runs, "rings", {column: title}, 100)
        charts.append(Chart(f"{title.capitalize()}, per cycle", "cycle", "%", series, top=103, marks=marks))
    return _some(*charts)


def delivery(runs: Runs) -> list[Chart]:
    """What becomes of test events, as the overlay grows."""
    marks = faults_of(runs)
    shares = {"hit_ratio": "subscribers reached", "complete": "events that reached all of theirs"}
    costs = {"messages_per_delivery": "messages", "duplicates_per_delivery": "duplicates"}
    return _some(
        Chart(
            "Delivery, per cycle", "cycle", "%", _curves(runs, "delivery", shares, 100), top=103, marks=marks,
            caption="Test events are published over the views as they are at the end of each cycle.",
        ),
        Chart(
            "Cost of a delivery", "cycle", "per delivery", _curves(runs, "delivery", costs), marks=marks,
            caption="Messages sent for each subscriber reached; those that it had already are duplicates.",
        ),
        Chart(
            "Hops to the last subscriber", "cycle", "hops, mean over events",
            _curves(runs, "delivery", {"hops_mean": "hops"}), marks=marks,
        ),
    )  # fmt: skip


def ring_lengths(runs: Runs) -> list[Chart]:
    """How many subscribers events have."""
    counted = {name: _lengths(run) for name, run in runs.items()}
    series = [
        Series(name if len(runs) > 1 else "events", *found, shape="line" if len(runs) > 1 else "points")
        for name, found in counted.items()
        if found is not None
    ]
    return _some(
        Chart(
            "Ring lengths", "subscribers that match (ring length)", "events", series,
            log_x=all(np.min(one.x) > 0 for one in series), log_y=True,
            caption="How many test events have a ring of each length.",
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
    """How far events travel."""
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
    )  # fmt: skip


def load(runs: Runs) -> list[Chart]:
    """What peers receive and send for each event they want."""
    titles = {"received": "copies received", "sent": "messages sent"}
    series = []
    for name, run in runs.items():
        found = _last_cycle(run.columns("load", "peer"))
        if found is None:
            continue
        found = {"sent" if column == "forwarded" else column: values for column, values in found.items()}
        taken = found.get("taken", np.ones(found["peer"].size))
        for column, title in titles.items():
            if column in found and (taken > 0).any():
                label = title if len(runs) == 1 else f"{name}: {title}"
                series.append(_histogram(label, found[column][taken > 0] / taken[taken > 0]))
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
    """What upkeep costs, by layer."""
    marks = faults_of(runs)
    charts = []
    for unit, title, scale in (
        ("messages", "messages", 1.0), ("bytes", "kB", 1e-3), ("failed", "messages that failed", 1.0),
    ):  # fmt: skip
        series = []
        for name, run in runs.items():
            found = run.columns("traffic", "cycle", "layer", unit)
            if found is None:
                continue
            peers = found["peers"] if "peers" in found else np.full(found["cycle"].size, _peers(run))
            for layer in dict.fromkeys(found["layer"].tolist()):
                mine = found["layer"] == layer
                label = str(layer) if len(runs) == 1 else f"{name}: {layer}"
                each = scale * found[unit][mine] / np.maximum(peers[mine], 1)
                series.append(Series(label, found["cycle"][mine], each))
        if unit != "failed" or any(np.any(np.asarray(one.y) > 0) for one in series):
            charts.append(
                Chart(
                    f"Upkeep: {title} per peer and cycle", "cycle", f"{title.split()[0]} per peer", series,
                    marks=marks,
                )
            )  # fmt: skip
    return _some(*charts)


def _peers(run: Source) -> int:
    peers = run.table("peers")
    if peers is None or "peer" not in peers.column_names or not peers.num_rows:
        return 1
    return int(peers["peer"].to_numpy().max()) + 1


def _last_cycle(columns: Columns | None) -> Columns | None:
    """The rows of the last cycle, where there are several."""
    if columns is None or "cycle" not in columns or not columns["cycle"].size:
        return columns
    last = columns["cycle"] == columns["cycle"].max()
    return {name: values[last] for name, values in columns.items()}


def _some(*charts: Chart) -> list[Chart]:
    """Those that have something to show."""
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
