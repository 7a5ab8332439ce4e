"""One look for all figures: readable at README width, and with colour-blind eyes.

Colours are those of Okabe and Ito (*Color Universal Design*, 2008), which stay apart under all common
kinds of colour blindness; markers and line styles repeat what the colours say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
_DASHES = ["-", "--", ":", "-.", "-", "--", ":"]

_STYLE: dict[str, Any] = {
    "figure.figsize": (6.4, 4.0),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "axes.formatter.useoffset": False,
}


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
    return {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": _DASHES[i], **hollow}


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


def legend_above(figure: Figure, axes: Axes, columns: int, **options: Any) -> None:
    """One legend for all panels of a figure, above them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=columns,
        fontsize=options.pop("fontsize", 9),
        **options,
    )


def captioned(figure: Figure, text: str) -> None:
    """Put a line under a figure: how much was measured."""
    figure.supxlabel(text, x=0.005, ha="left", fontsize=8, color="#555555")
