"""Charts that the page draws as SVG from the numbers it contains.

So they have the colours of the page (light or dark), fit any width, show their values under the pointer, and
can be saved as a picture or as a table. `assets/charts/` has one file each for scales, drawing and pointer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from sims.report.cells import asset
from sims.report.html import Page
from sims.report.packing import as_json
from workloads.charts.chart import Chart, Series

DIGITS = 6
_TONES = {"faint": "grey", "black": "bound"}  # by the style of a series; others are in colour
_SCRIPTS = ("scales", "svg", "draw", "pointer", "figures")


def add_charts(page: Page, *charts: Chart) -> None:
    """Add charts to a page, two side by side if there is room.

    Examples
    --------
    >>> page = Page("x")
    >>> add_charts(page, Chart("Rings", "cycle", "%", [Series("complete", [0, 1], [0.0, 50.0])]))
    >>> '"label":"complete"' in page.html()
    True
    """
    figures = Markup("\n").join(figure_html(page, chart) for chart in charts)
    page.raw(Markup('<div class="charts">{}</div>').format(figures))


def figure_html(page: Page, chart: Chart) -> Markup:
    """Return a chart as HTML, and add its scripts to the page."""
    page.style(asset("charts.css"))
    page.script(Markup("\n").join(asset(f"charts/{name}.js") for name in _SCRIPTS))
    described = {
        "title": chart.title, "x": chart.x, "y": chart.y, "xScale": "log" if chart.log_x else "linear",
        "yScale": "nines" if chart.nines else "log" if chart.log_y else "linear", "top": chart.top,
        "bottom": chart.bottom,
        "marks": [[float(at), text] for at, text in chart.marks], "pick": chart.pick, "height": chart.height,
        "series": [_described(series, k) for k, series in enumerate(chart.series)],
    }  # fmt: skip
    return Markup(
        '<figure class="chart"><h4>{}</h4><div class="plot"></div>'
        '<script type="application/json">{}</script><figcaption>{}</figcaption></figure>'
    ).format(chart.title, as_json(described), chart.caption)


def _described(series: Series, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "label": series.label, "shape": series.shape, "look": number if series.look is None else series.look,
        "x": _numbers(series.x), "y": _numbers(series.y),
    }  # fmt: skip
    if series.style in _TONES:
        found["tone"] = _TONES[series.style]
    if series.low is not None and series.high is not None:
        found |= {"low": _numbers(series.low), "high": _numbers(series.high)}
    return found | ({"names": list(series.names)} if series.names is not None else {})


def _numbers(values: ArrayLike) -> list[Any]:
    """Round finite numbers to the digits that a screen can show; null for the others."""
    found = np.asarray(values, float).tolist()
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in found]
