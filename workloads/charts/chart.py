"""Charts as data: series over one axis, intervals, references. Two renderers draw them.

`workloads.charts.drawing` draws by matplotlib, `sims/report/assets/charts/` in the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

Label = str | Callable[[Any], str] | Mapping[Any, str]


@dataclass(frozen=True)
class Series:
    """One curve: y over x, of equal length; the curve has a gap where y is not finite.

    Attributes
    ----------
    label : str
        Empty for one that the legend leaves out.
    x, y : array_like
    shape : {"line", "points", "bars", "steps"}
    low, high : array_like, optional
        Ends of the interval of each y: a band about a line, bars at points and bars.
    names : sequence of str, optional
        Names of the points, which the page shows.
    look : int, optional
        Number of its colour, dashes and marker; by default its position in the chart.
    dress : tuple of str, optional
        In figures: colour, marker and dashes by their names, instead of those of `look`.
    style : {"", "plain", "thin", "faint", "open", "black", "band"}
        In figures: as it is, a line without markers, a thin one, paler, dashed with open markers, in black,
        its interval alone. In the page a faint one is grey, and a black one a bound.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    shape: Literal["line", "points", "bars", "steps"] = "line"
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    names: Sequence[str] | None = None
    look: int | None = None
    dress: tuple[str, str, str] | None = None
    style: Literal["", "plain", "thin", "faint", "open", "black", "band"] = ""


class Reference(NamedTuple):
    """What a paper states, or a bound: a line across the chart at x or y, a strip from x up to `to`."""

    text: str
    x: float | None = None
    y: float | None = None
    to: float | None = None


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
    bottom, top : float, optional
        Ends of the y axis; by default 0, if no value is below, and that of the values.
    marks : sequence of (x, text)
        Vertical lines with labels.
    pick : {"x", "point"}
        What the pointer shows: all curves at an x, or the nearest point.
    height : int
        Height of the plot in pixels, if there is room.
    references : sequence of Reference
    linear : float
        In figures: y is logarithmic, but linear up to this value.
    ticks : mapping, optional
        In figures: the places of ticks on the x axis, and their texts.
    values : bool
        In figures: whether bars have their values beside them.
    across : bool
        In figures: whether bars lie, so that the ticks have room for words.
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]
    caption: str = ""
    log_x: bool = False
    log_y: bool = False
    nines: bool = False
    bottom: float | None = None
    top: float | None = None
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    pick: Literal["x", "point"] = "x"
    height: int = 240
    references: Sequence[Reference] = ()
    linear: float = 0.0
    ticks: Mapping[Any, str] | None = None
    values: bool = False
    across: bool = False


@dataclass(frozen=True)
class Sheet:
    """Charts of one figure, row by row, and a line above them.

    Charts of a row share their y axis if it has the same title.
    """

    charts: Sequence[Chart]
    columns: int = 0  # all in one row, if 0
    note: str = ""


def worded(label: Label, key: Any) -> str:
    """The label of a key: by a format, a mapping or a function."""
    if isinstance(label, str):
        return label.format(key)
    return str(label.get(key, key) if isinstance(label, Mapping) else label(key))


def curves(
    frame: pd.DataFrame,
    x: str,
    y: str,
    by: str | Sequence[str] = (),
    *,
    label: Label = "{}",
    over: Literal["runs", "seeds", ""] = "runs",
    times: float = 1.0,
    across: float = 1.0,
    first: int = 0,
    **options: Any,
) -> list[Series]:
    """A curve of means for each kind of rows, in the order of the rows.

    Parameters
    ----------
    by : str or sequence of str
        Columns that tell the kinds; a label gets one value, or a tuple of several.
    over : {"runs", "seeds", ""}
        The interval: Student's of the mean, from the least to the greatest, none.
    times, across : float
        What y and x are multiplied by.
    first : int
        The look of the first curve.
    **options
        Of `Series`.

    Examples
    --------
    >>> frame = pd.DataFrame({"p": [1, 1, 2], "hits": [0.5, 1.0, 1.0], "kind": "ring"})
    >>> (curve,) = curves(frame, "p", "hits", by="kind", over="seeds", times=100)
    >>> curve.label, curve.y.tolist(), curve.low.tolist()
    ('ring', [75.0, 100.0], [50.0, 100.0])
    """
    keys = [by] if isinstance(by, str) else list(by)
    kinds = frame.groupby(keys[0] if len(keys) == 1 else keys, sort=False) if keys else [("", frame)]
    found = []
    for number, (key, own) in enumerate(kinds):
        values = own.groupby(x)[y]
        mean = values.mean()
        ends: dict[str, Any] = {}
        if over == "seeds":
            ends = {"low": times * values.min().to_numpy(), "high": times * values.max().to_numpy()}
        elif over:
            ends = interval_ends(values, times)
        name = worded(label, key) if keys else str(label)
        look = {"look": first + number} | options
        found.append(
            Series(name, across * mean.index.to_numpy(float), times * mean.to_numpy(float), **ends, **look)
        )
    return found


def columns(
    frame: pd.DataFrame, x: str, names: Mapping[str, str], first: int = 0, **options: Any
) -> list[Series]:
    """A curve of means for each of several columns, with its label; options are those of `curves`."""
    return [
        curves(frame, x, name, label=label, first=first + number, **options)[0]
        for number, (name, label) in enumerate(names.items())
    ]


def interval_ends(values: Any, times: float = 1.0) -> dict[str, Any]:
    """The ends of Student's interval of the mean of each group, for `Series`."""
    from workloads.statistics.intervals import interval_of_mean

    pairs = np.array([interval_of_mean(own) for _, own in values]).reshape(-1, 2)
    return {"low": times * pairs[:, 0], "high": times * pairs[:, 1]}


def shares(values: ArrayLike, label: str, **options: Any) -> Series:
    """How many per cent of the values are at most so large.

    Examples
    --------
    >>> shares([3.0, 1.0], "load").y.tolist()
    [50.0, 100.0]
    """
    ordered = np.sort(np.asarray(values, float))
    return Series(label, ordered, 100 * np.arange(1, ordered.size + 1) / ordered.size, **options)


def frontier(cost: pd.Series, missed: pd.Series, label: str, look: int) -> list[Series]:
    """Settings by what they cost and miss: a line of those that no cheaper one beats, and the others.

    Examples
    --------
    >>> best, others = frontier(pd.Series([3.0, 1.0, 2.0, 4.0]), pd.Series([0.2, 0.5, 0.6, 0.1]), "s", 0)
    >>> best.x.tolist(), best.y.tolist(), others.x.tolist()
    ([1.0, 3.0, 4.0], [0.5, 0.2, 0.1], [2.0])
    """
    cost = cost.sort_values()
    missed = missed[cost.index]
    best = missed < missed.cummin().shift(fill_value=float("inf"))
    on, off = ((cost[chosen].to_numpy(), missed[chosen].to_numpy()) for chosen in (best, ~best))
    return [Series(label, *on, look=look), Series("", *off, shape="points", look=look, style="faint")]
