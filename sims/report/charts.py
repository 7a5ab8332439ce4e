"""Charts that the page draws as SVG from the numbers it contains.

So they have the colours of the page (light or dark), fit any width, show their values under the pointer, and
can be saved as a picture or as a table. `assets/charts/` has one file each for scales, drawing and pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from sims.report.html import Page
from sims.report.packing import as_json
from sims.report.templates import asset

DIGITS = 6
_SCRIPTS = ("scales", "svg", "draw", "pointer", "figures")


@dataclass(frozen=True)
class Series:
    """One curve: y over x, of equal length; the curve has a gap where y is not finite.

    Attributes
    ----------
    label : str
    x, y : array_like
    shape : {"line", "points", "bars"}
    low, high : array_like, optional
        Ends of the interval of each y.
    names : sequence of str, optional
        Names of the points.
    look : int, optional
        Number of its colour, dashes and marker; by default its position in the chart.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    shape: Literal["line", "points", "bars"] = "line"
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    names: Sequence[str] | None = None
    look: int | None = None


@dataclass(frozen=True)
class Chart:
    """Curves over one axis.

    Attributes
    ----------
    title : str
    x, y : str
        Titles of the axes, with units.
    series : sequence of Series
    caption : str
        Text below the chart.
    log_x, log_y : bool
        Whether an axis is logarithmic.
    nines : bool
        Whether y is a share shown in nines: 90 %, 99 % and 99.9 % are equally far apart.
    top : float, optional
        Upper end of the y axis; by default that of the values.
    marks : sequence of (x, text)
        Vertical lines with labels.
    pick : {"x", "point"}
        What the pointer shows: all curves at an x, or the nearest point.
    height : int
        Height of the plot in pixels, if there is room.
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]
    caption: str = ""
    log_x: bool = False
    log_y: bool = False
    nines: bool = False
    top: float | None = None
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    pick: Literal["x", "point"] = "x"
    height: int = 240


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
    if series.low is not None and series.high is not None:
        found |= {"low": _numbers(series.low), "high": _numbers(series.high)}
    return found | ({"names": list(series.names)} if series.names is not None else {})


def _numbers(values: ArrayLike) -> list[Any]:
    """Round finite numbers to the digits that a screen can show; null for the others."""
    found = np.asarray(values, float).tolist()
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in found]
