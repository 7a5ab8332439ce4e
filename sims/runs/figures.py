"""Figures of a run: the charts of the report (`sims.report.curves`), drawn by matplotlib."""

from __future__ import annotations

from sims.runs.folder import RunWriter


def draw_figures(run: RunWriter) -> None:
    """Draw a figure for each table of the run that has charts: table `NAME` as `NAME.png`."""
    from sims.report.curves import TABLES
    from sims.report.sources import Source
    from workloads.charts.chart import Sheet
    from workloads.charts.drawing import drawn

    source = Source(run, "run")
    for name, charts_of in TABLES.items():
        if name in run.tables() and (charts := charts_of({run.path.name: source})):
            with drawn(Sheet(charts)) as figure:
                run.write_figure(name, figure)
