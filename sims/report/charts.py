"""Charts that answer to the mouse, drawn in the page by uPlot from the numbers in it.

uPlot (assets/vendor, MIT licence, see `UPLOT`) draws curves, bars and points with a cursor that tells their
values; `assets/charts.js` gives it the page's colours and, on request, a table of the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike, NDArray

from sims.report.html import Page, asset
from sims.report.packing import as_json

__all__ = ["UPLOT", "Chart", "Series", "add_charts"]

UPLOT = ("uplot@1.6.32", "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f")
"""The package on npm that `vendor/uPlot.iife.min.js` was taken from, and the SHA-256 of that file."""

DIGITS = 6


@dataclass(frozen=True)
class Series:
    """One curve: y over x, both of one length, x ascending; a y that is not finite is a gap."""

    label: str
    x: ArrayLike
    y: ArrayLike
    shape: Literal["line", "points", "bars"] = "line"


@dataclass(frozen=True)
class Chart:
    """Curves over one axis.

    Attributes
    ----------
    title : str
    x, y : str
        What the axes show, with units.
    series : sequence of Series
    caption : str
        What to see in it.
    log_x, log_y : bool
        Whether an axis is logarithmic.
    top : float, optional
        Where the y axis ends, which begins at 0; as far as the values go by default.
    marks : sequence of (x, text)
        Moments to point out.
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]
    caption: str = ""
    log_x: bool = False
    log_y: bool = False
    top: float | None = None
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)


def add_charts(page: Page, *charts: Chart) -> None:
    """Put charts into a page, two beside one another where there is room.

    Examples
    --------
    >>> page = Page("x")
    >>> add_charts(page, Chart("Rings", "cycle", "%", [Series("complete", [0, 1], [0.0, 50.0])]))
    >>> '"label":"complete"' in page.html()
    True
    """
    page.style(asset("vendor/uPlot.min.css")).style(asset("charts.css"))
    page.script(asset("vendor/uPlot.license.js") + asset("vendor/uPlot.iife.min.js")).script(
        asset("charts.js")
    )
    figures = Markup("\n").join(_figure(chart) for chart in charts)
    page.raw(Markup('<div class="charts">{}</div>').format(figures))


def _figure(chart: Chart) -> Markup:
    x = np.unique(np.concatenate([np.asarray(series.x, float) for series in chart.series]))
    described = {
        "title": chart.title, "x": chart.x, "y": chart.y, "logX": chart.log_x, "logY": chart.log_y,
        "top": chart.top, "marks": [[float(at), text] for at, text in chart.marks],
        "series": [{"label": series.label, "shape": series.shape} for series in chart.series],
        "data": [_numbers(x), *(_numbers(_aligned(series, x)) for series in chart.series)],
    }  # fmt: skip
    return Markup(
        '<figure class="chart"><h4>{}</h4><div class="plot"></div>'
        '<script type="application/json">{}</script><figcaption>{}</figcaption></figure>'
    ).format(chart.title, as_json(described), chart.caption)


def _aligned(series: Series, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of a series at each of the chart's x, NaN where it has none."""
    y = np.full(x.size, np.nan)
    y[np.searchsorted(x, np.asarray(series.x, float))] = np.asarray(series.y, float)
    return y


def _numbers(values: NDArray[np.float64]) -> list[Any]:
    """Finite numbers in as many digits as a screen can tell apart; null for the others."""
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values.tolist()]
