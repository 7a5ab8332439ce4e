"""Figure 7b of Sub-2-Sub: hops to complete dissemination against ring length; and the cost of shortcuts.

Hops count from the publisher, a random subscriber of the event. "Logarithmic" means here: a log2(length) + b
fits the mean hops of each length better than a straight line in the length, and explains at least 0.9 of
their variance. `sub2sub-shortcuts` goes beyond the figure: 0 to 4 shortcuts with the same fit, and their cost
in messages, as `sub2sub.compiled.events.outcome` defines it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.reproduce.claims import Claims, observed, rounded, span, stated
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.converged_events import SHORTCUTS, converged_events
from workloads.charts.chart import Chart, Series, Sheet, columns

EXPLAINED = 0.9


class Fit(NamedTuple):
    """y = slope x + offset by least squares, and the share of the variance it explains (R squared)."""

    slope: float
    offset: float
    explained: float


def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> Fit:
    """A straight line through points.

    Examples
    --------
    >>> [round(value, 6) for value in fit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0, 1.0]
    """
    slope, offset = np.polyfit(x, y, 1)
    left, variance = ((y - slope * x - offset) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    return Fit(float(slope), float(offset), float(1 - left / variance) if variance > 0 else 0.0)


def _by_length(events: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ring lengths, and the mean hops of the events with each."""
    means = events.groupby("matches").hops.mean()
    return means.index.to_numpy(float), means.to_numpy(float)


def _fits(events: pd.DataFrame) -> tuple[Fit, Fit]:
    """Hops against the logarithm of the length, and against the length."""
    lengths, hops = _by_length(events)
    return fit(np.log2(lengths), hops), fit(lengths, hops)


def judge_hops(tables: Tables) -> Claims:
    """Whether hops grow logarithmically with one shortcut, and all events are complete."""
    events = tables["events"][tables["events"].shortcuts == 1]
    seeds = [own for _, own in events.groupby("seed")]
    log, linear = (np.array(column) for column in zip(*(_fits(own) for own in seeds), strict=True))
    complete = [float((own.reached == own.matches).mean()) for own in seeds]
    most = int(events.hops.max())
    yield stated(
        "share of disseminations that are complete on a settled overlay, worst seed",
        "Sub-2-Sub, Section 4.2: forwarding along ring links gives a hit ratio of 100 %", 1.0, min(complete),
        min(complete) == 1.0, interval=span(complete),
    )  # fmt: skip
    yield stated(
        "hops to complete dissemination grow logarithmically with ring length: R squared of a log2(length) "
        f"+ b is at least {EXPLAINED} and above that of a straight line, in every seed",
        "Sub-2-Sub, Section 5 and Figure 7b: the relation is of logarithmic fashion; the bound is ours",
        "logarithmic", rounded({"R2 log": log[:, 2].mean(), "R2 line": linear[:, 2].mean()}),
        bool((log[:, 2] >= EXPLAINED).all() and (log[:, 2] > linear[:, 2]).all()),
        interval={"R2 log": span(log[:, 2]), "R2 line": span(linear[:, 2])},
    )  # fmt: skip
    yield observed(
        "slope and offset of the logarithm, most hops of any event",
        {**rounded({"slope": log[:, 0].mean(), "offset": log[:, 1].mean()}, 3), "most hops": most},
        source="Sub-2-Sub, Figure 7b: a plot whose numbers are lost",
        interval={"slope": span(log[:, 0]), "offset": span(log[:, 1])},
    )  # fmt: skip


def judge_shortcuts(tables: Tables) -> Claims:
    """Linear time without shortcuts, close to logarithmic with them; what they cost."""
    events = tables["events"]
    explained = {
        k: [_fits(own)[0].explained for _, own in events[events.shortcuts == k].groupby("seed")]
        for k in SHORTCUTS
    }
    alone = events[events.shortcuts == 0]
    half = float((alone.hops == alone.matches // 2).mean())
    cost = events.groupby("shortcuts")[["billed", "deliveries"]].sum()
    yield stated(
        "the ring alone takes linear time: share of events that take half the ring length in hops",
        "Sub-2-Sub, Section 4.2: ring links alone need linear time", 1.0, half, half == 1.0,
    )  # fmt: skip
    yield stated(
        f"one random shortcut: R squared of a log2(length) + b, worst seed (at least {EXPLAINED})",
        "Sub-2-Sub, Section 4.2: as few as one random matching node make it close to logarithmic; the bound "
        "is ours", "close to logarithmic", round(min(explained[1]), 4), min(explained[1]) >= EXPLAINED,
        interval=span(explained[1]),
    )  # fmt: skip
    yield observed(
        f"R squared of a log2(length) + b with 0 to {SHORTCUTS[-1]} shortcuts, worst seed",
        rounded({k: min(values) for k, values in explained.items()}, 4, "{} shortcuts"),
    )  # fmt: skip
    yield observed(
        f"messages per delivery with 0 to {SHORTCUTS[-1]} shortcuts",
        rounded(cost.billed / cost.deliveries, 3, "{} shortcuts"),
    )  # fmt: skip


def charts_hops(tables: Tables) -> Sheet:
    """Hops of each event, their mean by length, and the logarithm that fits them."""
    events = tables["events"][tables["events"].shortcuts == 1]
    log, _ = _fits(events)
    lengths, hops = _by_length(events)
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(events))
    label = f"{log.slope:.2f} log2(length) {log.offset:+.2f} (R² = {log.explained:.3f})"
    series = [
        Series("an event", events.matches, events.hops + jitter, "points", look=5, style="faint"),
        Series("mean per ring length", lengths, hops, "points", look=0),
        Series(label, lengths, log.slope * np.log2(lengths) + log.offset, look=1, style="plain"),
    ]
    for number, (_, own) in enumerate(events.groupby("seed")):
        one, _ = _fits(own)
        fitted = one.slope * np.log2(lengths) + one.offset
        series.append(Series("" if number else "each seed", lengths, fitted, look=1, style="thin"))
    title = "Hops with one random shortcut (paper: logarithmic, numbers lost)"
    labels = "matching subscribers (ring length)", "hops to the last of them"
    return Sheet([Chart(title, *labels, series)])


def charts_shortcuts(tables: Tables) -> Sheet:
    """Hops by length, and messages, for each number of shortcuts."""
    events = tables["events"]
    hops = [
        Series(f"{k} shortcuts, R² {_fits(own)[0].explained:.2f}", *_by_length(own), look=int(k))
        for k, own in events.groupby("shortcuts")
    ]
    cost = events.groupby(["seed", "shortcuts"])[["billed", "duplicates", "deliveries"]].sum()
    sums = cost.div(cost.deliveries, axis=0).reset_index()
    names = {"billed": "messages", "duplicates": "of which duplicates"}
    messages = columns(sums, "shortcuts", names, first=5, over="seeds")
    title = "Hops (paper: 0 linear, 1 close to logarithmic)"
    labels = "matching subscribers (ring length)", "hops to the last of them (mean)"
    return Sheet(
        [
            Chart(title, *labels, hops, log_x=True, log_y=True),
            Chart("Messages", "shortcuts", "per delivery", messages, ticks={k: str(k) for k in SHORTCUTS}),
        ]
    )


REPRODUCTIONS = {
    "sub2sub-fig7b": (converged_events, judge_hops, charts_hops),
    "sub2sub-shortcuts": (converged_events, judge_shortcuts, charts_shortcuts),
}
