"""One look for all figures: readable at README width, and with colour-blind eyes.

Colours are those of Okabe and Ito (*Color Universal Design*, 2008), which stay apart under all common
kinds of colour blindness; markers and line styles repeat what the colours say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from workloads.statistics.figures import COLOURS as COLOURS
from workloads.statistics.figures import DASHES, STYLE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
_STYLE: dict[str, Any] = STYLE | {
    "figure.figsize": (6.4, 4.0), "figure.constrained_layout.use": True, "savefig.dpi": 150,
    "lines.linewidth": 1.6, "lines.markersize": 5, "axes.formatter.useoffset": False,
}  # fmt: skip


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the house style within the block, without a display and without touching global settings."""
    import matplotlib

    matplotlib.use("Agg")
    with matplotlib.rc_context(_STYLE):  # type: ignore[arg-type]
        yield


def figure(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """`pyplot.subplots` with a size that suits the number of panels; call it within `styled`."""
    from matplotlib import pyplot as plt

    width, height = _STYLE["figure.figsize"]
    options.setdefault("figsize", (width * (0.35 + 0.65 * columns), height * (0.25 + 0.75 * rows)))
    return plt.subplots(rows, columns, **options)


def look(number: int) -> dict[str, Any]:
    """Colour, marker and dashes of curve `number` of a figure; the eighth and on are hollow."""
    again, i = divmod(number, len(COLOURS))
    hollow = {"markerfacecolor": "white"} if again else {}
    return {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": DASHES[i], **hollow}


def line(axes: Axes, number: int, x: Any, y: Any, label: str, **options: Any) -> None:
    """Draw curve `number` of a figure."""
    axes.plot(x, y, label=label, **look(number) | options)


def frontier(axes: Axes, cost: pd.Series, missed: pd.Series, **options: Any) -> None:
    """Draw settings by what they cost and miss; a line joins those that no cheaper one beats."""
    cost = cost.sort_values()
    missed = missed[cost.index]
    best = missed < missed.cummin().shift(fill_value=float("inf"))
    axes.plot(cost[best], missed[best], **options)
    faint = {"linestyle": "", "alpha": 0.25, "markersize": 4, "label": None}
    axes.plot(cost[~best], missed[~best], **options | faint)


def band(axes: Axes, number: int, x: Any, low: Any, high: Any) -> None:
    """Shade between two curves in the colour of curve `number`: an interval over seeds or runs."""
    axes.fill_between(x, low, high, color=COLOURS[number % len(COLOURS)], alpha=0.18, linewidth=0)


def mean_line(
    axes: Axes, number: int, by: Any, label: str, times: float = 1.0, most: float = float("inf")
) -> None:
    """Draw the mean of each group of a pandas `groupby` at `times` its key, with a 95 % band up to `most`."""
    mean, half = by.mean(), 1.96 * by.sem()
    line(axes, number, times * mean.index, mean, label)
    band(axes, number, times * mean.index, mean - half, (mean + half).clip(upper=most))


def seed_line(axes: Axes, number: int, curves: pd.DataFrame, label: str, **options: Any) -> None:
    """Draw the mean of a table's columns, one for each seed, with a band from the least to the greatest."""
    line(axes, number, curves.index, curves.mean(axis=1), label, **options)
    band(axes, number, curves.index, curves.min(axis=1), curves.max(axis=1))


def seed_bars(axes: Axes, number: int, curves: pd.DataFrame, label: str, **options: Any) -> None:
    """Draw the mean of a table's columns, one for each seed, with bars from the least to the greatest."""
    mean = curves.mean(axis=1)
    line(axes, number, curves.index, mean, label, **options)
    reach = [mean - curves.min(axis=1), curves.max(axis=1) - mean]
    axes.errorbar(curves.index, mean, reach, fmt="none", color=COLOURS[number], capsize=3)


def mean_bars(axes: Axes, number: int, by: Any, label: str, places: Any, width: float) -> None:
    """Draw a bar for each group of a pandas `groupby`: its mean, with a 95 % interval."""
    error = 1.96 * by.sem()
    axes.bar(places, by.mean(), width, yerr=error, color=COLOURS[number], label=label, capsize=3)


def stated_line(axes: Axes, label: str, *, x: float | None = None, y: float | None = None) -> None:
    """Draw a value that the paper states as a thin black line with its words at the end."""
    if x is not None:
        axes.axvline(x, color="black", linewidth=0.9, linestyle=(0, (4, 2)))
        axes.annotate(
            label, (x, 1.0), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", va="bottom", fontsize=8,
        )  # fmt: skip
    if y is not None:
        axes.axhline(y, color="black", linewidth=0.9, linestyle=(0, (4, 2)))
        axes.annotate(
            label, (1.0, y), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", va="bottom", fontsize=8,
        )  # fmt: skip


def legend_beside(axes: Axes, **options: Any) -> None:
    """A legend to the right of the axes, off the data."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=options.pop("fontsize", 9), **options)


def legend_below(axes: Axes, columns: int) -> None:
    """A legend under the axes, off the data."""
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=columns)


def legend_above(figure: Figure, axes: Axes, columns: int, **options: Any) -> Figure:
    """Put one legend for all panels of a figure above them; the figure."""
    handles, labels = axes.get_legend_handles_labels()
    size = options.pop("fontsize", 9)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=size, **options)
    return figure


def captioned(figure: Figure, text: str) -> None:
    """Put a line under a figure: how much was measured."""
    figure.supxlabel(text, x=0.005, ha="left", fontsize=8, color="#555555")
