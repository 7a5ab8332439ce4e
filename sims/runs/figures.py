"""Figures of a run, drawn from its tables: ring construction or views, delivery, load, traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sims.figures.style import COLOURS, figure, line, styled
from sims.runs.folder import RunFolder, RunWriter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Columns = dict[str, NDArray[Any]]


def draw_figures(run: RunWriter) -> None:
    """Draw a figure for each table of the run that has one: table `NAME` as `NAME.png`."""
    for name, draw in _DRAWINGS.items():
        if name in run.tables():
            columns = {column: run.table(name)[column].to_numpy() for column in run.table(name).column_names}
            with styled():
                run.write_figure(name, draw(run, columns))


def _mark_faults(run: RunFolder, axes: Axes) -> None:
    """Mark the cycles of faults that happen once."""
    for fault in run.settings.get("faults", []):
        if isinstance(fault.get("at"), int):
            axes.axvline(fault["at"], color="#999999", linestyle=":", linewidth=1.2)
            axes.annotate(
                f" {fault['kind']}", (fault["at"], 0.35), xycoords=("data", "axes fraction"), fontsize=9,
                color="#555555", rotation=90, va="bottom", ha="right",
            )  # fmt: skip


def _markers(count: int) -> dict[str, Any]:
    return {"markevery": max(1, count // 20), "markersize": 4}


def _rings(run: RunFolder, table: Columns) -> Figure:
    fig, axes = figure()
    for number, (column, label) in enumerate(
        (("links", "ring links in place"), ("complete", "complete rings"))
    ):
        line(axes, number, table["cycle"], 100 * table[column], label, **_markers(len(table["cycle"])))
    axes.set(xlabel="cycle", ylabel="%", ylim=(-3, 103), title="Ring construction")
    _mark_faults(run, axes)
    axes.legend(loc="lower right")
    return fig


def _views(run: RunFolder, table: Columns) -> Figure:
    fig, axes = figure()
    shares = [
        ("whole", "participants with all views right"),
        ("dead", "entries dead"),
        ("missing", "entries missing"),
    ]
    for number, (column, label) in enumerate(shares):
        line(axes, number, table["cycle"], 100 * table[column], label, **_markers(len(table["cycle"])))
    axes.set(xlabel="cycle", ylabel="%", ylim=(-3, 103), title="Membership views")
    _mark_faults(run, axes)
    axes.legend(loc="center right", fontsize=9)
    return fig


def _delivery(run: RunFolder, table: Columns) -> Figure:
    timed = "last_ms_median" in table
    fig, (left, right, *more) = figure(1, 3 if timed else 2)
    markers = _markers(len(table["cycle"]))
    shares = (("hit_ratio", "subscribers reached"), ("complete", "events that reached all"))
    for number, (column, label) in enumerate(shares):
        line(left, number, table["cycle"], 100 * table[column], label, **markers)
    left.set(xlabel="cycle", ylabel="%", ylim=(-3, 103), title="Delivery")
    costs = (
        ("messages_per_delivery", "messages per delivery"),
        ("duplicates_per_delivery", "duplicates per delivery"),
        ("hops_mean", "hops to the last subscriber"),
    )
    for number, (column, label) in enumerate(costs):
        line(right, number, table["cycle"], table[column], label, **markers)
    right.set(xlabel="cycle", ylim=(0, None), title="Cost and speed")
    for axes in more:
        times = ("ms_median", "a delivery"), ("last_ms_median", "the last"), ("last_ms_p99", "the last, 99 %")
        for number, (column, label) in enumerate(times):
            line(axes, number, table["cycle"], table[column], label, **markers)
        axes.set(xlabel="cycle", ylabel="ms", ylim=(0, None), title="Time to")
    for axes in (left, right, *more):
        _mark_faults(run, axes)
        axes.legend(fontsize=9)
        if len(table["cycle"]) == 1:
            axes.set_xticks(table["cycle"])
    return fig


def _load(run: RunFolder, table: Columns) -> Figure:
    last = table["cycle"] == table["cycle"].max()
    fig, axes = figure()
    edges: NDArray[Any] | int = 40
    for number, (column, label) in enumerate((("received", "copies received"), ("sent", "messages sent"))):
        counts = table[column][last]
        edges = np.histogram_bin_edges(counts, edges) if number == 0 else edges
        axes.hist(counts, bins=edges, histtype="step", linewidth=1.8, color=COLOURS[number], label=label)
    axes.set(
        xlabel="messages a peer handles for all test events", ylabel="peers", yscale="log",
        title=f"Load in cycle {table['cycle'].max()}",
    )  # fmt: skip
    axes.legend()
    return fig


def _traffic(run: RunFolder, table: Columns) -> Figure:
    fig, (left, right) = figure(1, 2)
    for number, layer in enumerate(dict.fromkeys(table["layer"].tolist())):
        mine = table["layer"] == layer
        markers, peers = _markers(int(mine.sum())), np.maximum(table["peers"][mine], 1)
        line(left, number, table["cycle"][mine], table["messages"][mine] / peers, layer, **markers)
        line(right, number, table["cycle"][mine], table["bytes"][mine] / 1000 / peers, layer, **markers)
    left.set(xlabel="cycle", ylabel="messages per peer and cycle", ylim=(0, None), title="Upkeep traffic")
    right.set(xlabel="cycle", ylabel="kB per peer and cycle", ylim=(0, None))
    for axes in (left, right):
        _mark_faults(run, axes)
    left.legend(fontsize=9)
    return fig


_DRAWINGS: dict[str, Callable[[RunFolder, Columns], Figure]] = {
    "rings": _rings,
    "views": _views,
    "delivery": _delivery,
    "load": _load,
    "traffic": _traffic,
}
