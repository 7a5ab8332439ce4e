"""Figures of a run: the charts of the report (`sims.report.curves`), drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sims.figures.style import figure, legend_below, line, styled
from sims.runs.folder import RunWriter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sims.report.charts import Chart

MARKS = 20  # markers on a curve, about


def draw_figures(run: RunWriter) -> None:
    """Draw a figure for each table of the run that has charts: table `NAME` as `NAME.png`."""
    from sims.report.curves import TABLES
    from sims.report.sources import Source

    source = Source(run, "run")
    for name, charts_of in TABLES.items():
        if name in run.tables() and (charts := charts_of({run.path.name: source})):
            with styled():
                fig, panels = figure(1, len(charts), squeeze=False)
                for axes, chart in zip(panels[0], charts, strict=True):
                    _draw(axes, chart)
                run.write_figure(name, fig)


def _draw(axes: Axes, chart: Chart) -> None:
    for number, series in enumerate(chart.series):
        x, y = np.asarray(series.x, float), np.asarray(series.y, float)
        look = {"linestyle": ""} if series.shape == "points" else {"markevery": max(1, x.size // MARKS)}
        line(axes, number, x, y, series.label, markersize=4, **look)
    for at, text in chart.marks:
        axes.axvline(at, color="#999999", linestyle=":", linewidth=1.2)
        axes.annotate(
            f" {text}", (at, 0.05), xycoords=("data", "axes fraction"), fontsize=8, color="#555555",
            rotation=90, va="bottom", ha="right",
        )  # fmt: skip
    axes.set(xlabel=chart.x, ylabel=chart.y, title=chart.title)
    axes.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    if not chart.log_y:
        axes.set_ylim(-3 if chart.top else 0, chart.top)
    legend_below(axes, 1 if len(chart.series) < 3 else 3)
