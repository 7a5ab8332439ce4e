"""Charts by matplotlib, in one look: readable at README width, and with colour-blind eyes.

Colours are those of Okabe and Ito (*Color Universal Design*, 2008), which stay apart under all common kinds
of colour blindness; markers and line styles repeat what the colours say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workloads.charts.chart import Chart, Reference, Series, Sheet
from workloads.files.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
NAMED = dict(zip(("blue", "red", "green", "pink", "orange", "sky", "black"), COLOURS, strict=True))
DASHES = ["-", "--", ":", "-.", "-", "--", ":"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
STYLE: dict[str, Any] = {
    "font.size": 11, "axes.titlesize": 10, "axes.grid": True, "grid.color": "#dddddd", "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.6,
    "lines.markersize": 5, "axes.formatter.useoffset": False, "savefig.dpi": 150,
}  # fmt: skip
_MARKS = 20  # markers on a curve, about


@contextmanager
def drawn(sheet: Sheet, below: str = "") -> Iterator[Figure]:
    """A figure of the charts, without a display; it is closed at the end of the block.

    `below` is a line under it: how much was measured.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    columns = sheet.columns or len(sheet.charts)
    rows = -(-len(sheet.charts) // columns)
    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        size = (2.4 + 3.9 * columns, 1.2 + 3.3 * rows)
        fig, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        for axes, chart in zip(grid.flat, sheet.charts, strict=False):
            _draw(axes, chart)
        for axes in grid.flat[len(sheet.charts) :]:
            axes.set_visible(False)
        for number in range(rows):
            _share_y(grid[number], sheet.charts[number * columns : (number + 1) * columns])
        _legends(fig, grid.flat, sheet)
        fig.supxlabel(below, x=0.005, ha="left", fontsize=8, color="#555555")
        try:
            yield fig
        finally:
            plt.close(fig)


def save(sheet: Sheet, path: Path) -> None:
    """Write a figure of the charts as a PNG file."""
    with drawn(sheet) as fig, atomic_write(path) as draft:
        fig.savefig(draft, format="png")


def _draw(axes: Axes, chart: Chart) -> None:
    bars = [series for series in chart.series if series.shape == "bars"]
    for number, series in enumerate(chart.series):
        look = number if series.look is None else series.look
        if series.shape == "bars":
            _bars(axes, chart, series, look, bars)
        else:
            _curve(axes, series, look)
    for reference in (*chart.references, *(Reference(text, x=at) for at, text in chart.marks)):
        _refer(axes, reference)
    axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
    _scale(axes, chart)


def _curve(axes: Axes, series: Series, number: int) -> None:
    """A line with its band, or points with their bars."""
    again, k = divmod(number, len(COLOURS))
    x, y = np.asarray(series.x, float), np.asarray(series.y, float)
    colour = "black" if series.style == "black" else COLOURS[k]
    look: dict[str, Any] = {"color": colour, "marker": MARKERS[(k + 3 * again) % len(MARKERS)]}
    look |= {"linestyle": DASHES[(k + again) % len(DASHES)]}
    if series.dress is not None:
        look |= dict(zip(look, (NAMED[series.dress[0]], *series.dress[1:]), strict=True))
        colour = look["color"]
    look |= {"markevery": max(1, x.size // _MARKS)} | ({"markerfacecolor": "white"} if again else {})
    if series.shape == "points":
        look |= {"linestyle": "", "markevery": 1, "markersize": 5 if x.size < 60 else 3}
    elif series.shape == "steps":
        look |= {"drawstyle": "steps-post", "marker": ""}
    styles: dict[str, dict[str, Any]] = {
        "": {}, "plain": {"marker": "", "linestyle": "-"},
        "thin": {"marker": "", "linestyle": "-", "linewidth": 0.9, "alpha": 0.7}, "faint": {"alpha": 0.3},
        "open": {"markerfacecolor": "white", "linestyle": "--"}, "black": {"marker": "", "linewidth": 1.0},
        "band": {"marker": "", "linestyle": ""},
    }  # fmt: skip
    look |= styles[series.style]
    axes.plot(x, y, label=series.label or "_", **look)
    if series.low is None or series.high is None:
        return
    low, high = np.asarray(series.low, float), np.asarray(series.high, float)
    if series.shape == "points":
        axes.errorbar(x, y, _reach(y, low, high), fmt="none", color=colour, capsize=2, linewidth=1)
    else:
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def _reach(y: Any, low: Any, high: Any) -> Any:
    return np.nan_to_num(np.maximum([y - low, high - y], 0.0))


def _bars(axes: Axes, chart: Chart, series: Series, number: int, bars: Sequence[Series]) -> None:
    """Bars side by side with those of the other series."""
    x, y = np.asarray(series.x, float), np.asarray(series.y, float)
    every = np.unique(np.concatenate([np.asarray(each.x, float) for each in bars]))
    width = 0.84 * (float(np.diff(every).min()) if every.size > 1 else 1.0) / len(bars)
    place = x + width * (next(k for k, each in enumerate(bars) if each is series) - (len(bars) - 1) / 2)
    look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "label": series.label or "_"}
    look |= {"alpha": 0.4} if series.style == "faint" else {}
    ends = y if series.high is None else np.maximum(y, np.nan_to_num(np.asarray(series.high, float)))
    if series.low is not None and series.high is not None:
        reach = _reach(y, np.asarray(series.low, float), np.asarray(series.high, float))
        look |= {"xerr" if chart.across else "yerr": reach, "capsize": 2, "error_kw": {"linewidth": 1}}
    (axes.barh if chart.across else axes.bar)(place, np.nan_to_num(y), width, **look)
    for at, value, end in zip(place, y, ends, strict=True) if chart.values else ():
        text = "not run" if np.isnan(value) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        spot, away = ((np.nan_to_num(end), at), (5, 0)) if chart.across else ((at, end), (0, 3))
        align = {"va": "center"} if chart.across else {"ha": "center", "va": "bottom"}
        size = 8 if len(bars) < 5 else 6
        zero = chart.across and not value > 0  # is off a logarithmic axis
        frame: Any = ("axes fraction", "data") if zero else "data"
        axes.annotate(text, spot, away, frame, textcoords="offset points", fontsize=size, **align)  # type: ignore[arg-type]


def _refer(axes: Axes, reference: Reference) -> None:
    """A thin black line with its words at the end, or a grey strip."""
    text, x, y, to = reference
    look: dict[str, Any] = {"color": "black", "linewidth": 0.9, "linestyle": (0, (4, 2))}
    words: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
    if x is not None and to is not None:
        axes.axvspan(x, to, color="#e4e4e4", zorder=0)
    elif x is not None:
        axes.axvline(x, **look)
    if x is not None:
        axes.annotate(
            f" {text}", (x, 0.98), (-2, 0), xycoords=("data", "axes fraction"), rotation=90, ha="right",
            va="top", color="#444444", **words,
        )  # fmt: skip
    if y is not None:
        axes.axhline(y, **look)
        axes.annotate(
            text, (1.0, y), (-2, 2), xycoords=("axes fraction", "data"), ha="right", va="bottom", **words
        )


def _scale(axes: Axes, chart: Chart) -> None:
    from matplotlib.ticker import LogFormatter

    for axis, logarithmic in (("x", chart.log_x), ("y", chart.log_y)):
        if logarithmic:
            axes.set(**{f"{axis}scale": "log"})
            own = axes.xaxis if axis == "x" else axes.yaxis
            own.set_major_formatter("{x:g}")
            own.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))  # few, on a short axis
            axes.tick_params("both", which="minor", labelsize=8)
    if chart.nines:
        _nines(axes)
    if chart.linear:
        axes.set_yscale("symlog", linthresh=chart.linear)
    if chart.ticks is not None:
        places, texts = list(chart.ticks), list(chart.ticks.values())
        (axes.set_yticks if chart.across else axes.set_xticks)(places, texts)
        axes.minorticks_off()
        if not chart.across and max(map(len, texts), default=0) > 12:
            axes.tick_params("x", rotation=25, labelsize=9)
            for label in axes.get_xticklabels():
                label.set(ha="right")
    if chart.across:
        axes.grid(axis="y", visible=False)
        axes.margins(x=0.18)
    elif chart.values:
        axes.margins(y=0.12)
    if chart.bottom is not None or chart.top is not None:
        axes.set_ylim(chart.bottom, chart.top)
    elif not (chart.log_y or chart.linear or chart.across) and axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)


def _nines(axes: Axes) -> None:
    """A y axis of shares on which 90 %, 99 % and 99.9 % are equally far apart, down to where curves are."""
    least = min((float(np.nanmin(np.asarray(line.get_ydata()))) for line in axes.lines), default=0.0)
    most = 10**-4.3
    nines = (lambda y: -np.log10(np.maximum(1 - y, most)), lambda z: 1 - 10.0**-z)
    axes.set_yscale("function", functions=nines)
    axes.set_yticks([0, 0.5, 0.9, 0.99, 0.999, 0.9999], ["0", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"])
    axes.set_ylim(min(least, 0.9), 1 - most)


def _share_y(row: Sequence[Axes], charts: Sequence[Chart]) -> None:
    """One y axis for the charts of a row, if it means the same in all of them."""
    if (
        len(charts) < 2
        or len({(chart.y, chart.bottom, chart.top) for chart in charts}) > 1
        or charts[0].across
    ):
        return
    ends = [axes.get_ylim() for axes in row[: len(charts)]]
    for number, axes in enumerate(row[: len(charts)]):
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
        if number:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)


def _legends(fig: Figure, panels: Any, sheet: Sheet) -> None:
    """One legend above all charts if one of them has all labels, else one below each."""
    drawn_panels = [axes for axes, _ in zip(panels, sheet.charts, strict=False)]
    found = [dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True)) for axes in drawn_panels]
    largest = max(found, key=len, default={})
    title: dict[str, Any] = {"title": sheet.note} if sheet.note else {}
    if set().union(*found) <= set(largest):
        room = fig.get_figwidth() * 10 / (max(map(len, largest), default=0) + 8)  # texts beside each other
        columns = max(1, min(len(largest), int(room)))
        if largest or sheet.note:
            place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "fontsize": 9}
            fig.legend(list(largest.values()), list(largest), **place, **title)
        return
    if sheet.note:
        fig.suptitle(sheet.note, fontsize=11)
    for axes, labels in zip(drawn_panels, found, strict=True):
        if labels:
            long = max(map(len, labels)) > 16
            below: dict[str, Any] = {
                "loc": "upper center",
                "bbox_to_anchor": (0.5, -0.17),
                "ncols": 1 if long else 3,
            }
            axes.legend(list(labels.values()), list(labels), fontsize=8, **below)
