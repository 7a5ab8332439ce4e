"""Figures 19 to 28 of CAMCAST: the three memberships with different values of p_sel, in d and in a.

Two of the paper's statements do not hold: that the structured membership is the most reliable, and the most
efficient; it is the fastest. Its tables are uniform, with ln N + c entries and c = 0. By the paper's own
analysis such gossip reaches all processes with probability exp(-exp(-c)) = 0.37 (0.6 with ln N rounded up),
because some process is likely to be in no table. SCAMP does not draw tables: every newcomer's name is kept by
some process, so without crashes its graph is connected however small its views are.

"100 % reliability with 7 % of the processes forwarding upward" can be seen in 5 to 10 runs by chance. The
probability of that is computed from the measured reliability, and reported instead of a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd

from sims.reproduce.camcast.measured import METRICS, P_SEL, unit
from sims.reproduce.claims import Claims, claim, means, rounded, share_interval
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Reference, Series, Sheet, curves
from workloads.statistics.intervals import below

__all__ = ["unit"]

FIGURES = dict(enumerate(((metric, level) for metric in METRICS for level in "da"), start=19))
LABELS = {
    "reception": "probability of reception",
    "reliability": "probability that all receive",
    "efficiency": "useful share of messages received",
    "latency": "rounds to the last reception",
    "upward": "upward messages into the community",
}
SAYS = {
    "reception": "all converge to 100 %, structured fastest",
    "reliability": "very high from 10 % on, structured highest",
    "efficiency": "falls with p_sel; structured, semi-structured, unstructured in this order",
    "latency": "falls with p_sel; structured, semi-structured, unstructured rise in this order",
    "upward": "in proportion to p_sel",
}
PAPER_RUNS = {"unstructured": 10, "semi-structured": 5, "structured": 5}
LOW = 0.1  # "even for a low inter-community dissemination probability"


def means_by(events: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means over runs and events, by p_sel and membership."""
    mean = events.groupby(["p_sel", "membership"])[metric].mean().unstack("membership")
    return pd.DataFrame(mean[list(dict.fromkeys(events.membership))])


def _by_membership(events: pd.DataFrame, metric: str) -> dict[str, pd.Series[float]]:
    return {str(kind): values for kind, values in events.groupby("membership", sort=False)[metric]}


def _at(own: pd.DataFrame, p_sel: float) -> pd.DataFrame:
    return own[np.isclose(own.p_sel, p_sel)]


def _by_run(own: pd.DataFrame, metric: str) -> dict[str, pd.Series[float]]:
    """Means of each run, by membership: events of one run share tables."""
    runs = own.groupby(["membership", "run"], sort=False)[metric].mean()
    return {str(kind): values for kind, values in runs.groupby("membership", sort=False)}


def _shares(events: Mapping[str, pd.Series[float]]) -> dict[str, list[float]]:
    """Intervals of shares of events, by membership."""
    return {kind: share_interval(values.sum(), len(values), 3) for kind, values in events.items()}


def _greatest(runs: Mapping[str, pd.Series[float]], kind: str) -> bool:
    """Whether one membership is above all others, by more than chance explains."""
    return all(below(values, runs[kind]) for other, values in runs.items() if other != kind)


def _in_order(runs: Mapping[str, pd.Series[float]], *kinds: str) -> bool:
    """Whether memberships rise in this order, by more than chance explains."""
    return all(below(runs[less], runs[more]) for less, more in pairwise(kinds))


def _reception(own: pd.DataFrame) -> Claims:
    ends = _by_membership(_at(own, 1.0), "reception")
    low = _by_run(own[own.p_sel <= LOW], "reception")
    good = float(_by_membership(_at(own, LOW), "reception")["structured"].mean())
    yield means("converge", ends, [values.mean() for values in ends.values()], digits=3)
    yield means("structured_first", low, _greatest(low, "structured"), digits=3)
    yield claim("structured_good", round(good, 3), good)


def chance_of_all(reliability: Mapping[str, float]) -> float:
    """Chance that at least one membership shows 100 % in as many runs as the paper made.

    Examples
    --------
    >>> round(chance_of_all({"unstructured": 0.8, "semi-structured": 0.8, "structured": 0.0}), 3)
    0.4
    """
    none = [1 - share ** PAPER_RUNS[kind] for kind, share in reliability.items()]
    return float(1 - np.prod(none))


def _reliability(own: pd.DataFrame) -> Claims:
    seven, ten = (_by_membership(_at(own, p), "reliability") for p in (0.07, LOW))
    low = _by_run(own[own.p_sel <= LOW], "reliability")
    by, least = ({kind: float(values.mean()) for kind, values in at.items()} for at in (seven, ten))
    chance = {**rounded(by, 3), "chance": round(chance_of_all(by), 3)}
    yield claim("seven", chance, interval=_shares(seven))
    yield claim("ten", rounded(least, 3), list(least.values()), interval=_shares(ten))
    yield means("structured_most", low, _greatest(low, "structured"), digits=3)


def _efficiency(own: pd.DataFrame) -> Claims:
    mean = means_by(own, "efficiency")
    low, last = (_by_run(rows, "efficiency") for rows in (own[own.p_sel <= LOW], _at(own, 1.0)))
    best = {
        str(kind): _by_run(_at(own, float(values.idxmax())), "efficiency") for kind, values in mean.items()
    }
    falls = all(below(last[kind], best[kind][kind]) for kind in best)
    rises = _in_order(low, "unstructured", "semi-structured", "structured")
    yield claim("duplicates", rounded(mean.loc[1.0] / mean.max(), 3), falls)
    yield means("efficient_order", low, rises, digits=3)


def _latency(own: pd.DataFrame) -> Claims:
    before, after = (_by_run(_at(own, p), "latency") for p in (LOW, 1.0))
    apart = rounded({kind: after[kind].mean() - before[kind].mean() for kind in after}, 3)
    yield claim("faster", apart, all(below(after[kind], before[kind]) for kind in after))
    order = _in_order(after, "structured", "semi-structured", "unstructured")
    yield means("fewest_hops", after, order, digits=3)


def _upward(own: pd.DataFrame) -> Claims:
    mean = means_by(own, "upward")
    growth = mean.loc[1.0] / mean.loc[LOW]
    yield claim("proportion", rounded(growth, 3), (growth / 10 - 1).abs())


JUDGES: dict[str, Callable[[pd.DataFrame], Claims]] = {
    "reception": _reception,
    "reliability": _reliability,
    "efficiency": _efficiency,
    "latency": _latency,
    "upward": _upward,
}


def _sizes(tables: pd.DataFrame) -> Claims:
    """The paper's statement on the sizes of its tables."""
    mean = tables.groupby(["membership", "community"], sort=False)[["entries", "processes"]].mean()
    off = (mean.entries - np.log(mean.processes)).abs()
    by = mean.entries.round(2).groupby("membership", sort=False)
    yield claim("sizes", {str(kind): own.tolist() for kind, own in by}, off)


def _orphans(tables: pd.DataFrame) -> Claims:
    """The premise of the paper's ranking: every process is in some table."""
    sums = tables.groupby(["membership", "run"], sort=False).orphans.sum()
    by = {str(kind): values for kind, values in sums.groupby("membership", sort=False)}
    fewest = all(below(by["structured"], by[kind]) for kind in by if kind != "structured")
    yield means("orphans", by, fewest, digits=3)


ABOUT_TABLES = {19: _sizes, 21: _orphans, 22: _orphans}


def judge(tables: Tables) -> Claims:
    """Figure by figure."""
    for number, (metric, level) in FIGURES.items():
        events = tables["events"]
        yield from at_level(JUDGES[metric](events[events.community == level]), number)
        if number in ABOUT_TABLES:
            yield from at_level(ABOUT_TABLES[number](tables["tables"]), number)


def at_level(claims: Claims, number: int) -> Claims:
    """The claims of one figure, which say so."""
    at = f"Figure {number}, community {FIGURES[number][1]}"
    for each in claims:
        yield replace(each, words={**each.words, "at": at, "figure": number})


def p_sel_chart(metric: str, level: str, series: list[Series]) -> Chart:
    """A metric against p_sel, from 0 on."""
    stated = [Reference("paper: 100 % at 7 %", x=7)] if metric == "reliability" else []
    ticks = {100 * p: f"{100 * p:g}" for p in P_SEL}
    top = 1.03 if metric in ("reception", "reliability") else None
    title = f"Community {level}\npaper: {SAYS[metric]}"
    return Chart(
        title, "chance of sending upward, p_sel (%)", LABELS[metric], series, log_x=True, ticks=ticks,
        bottom=0, top=top, references=stated,
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Ten charts: each metric in d and in a, with intervals over the runs."""
    found = []
    for metric, level in FIGURES.values():
        own = tables["events"][tables["events"].community == level]
        runs = own.groupby(["membership", "p_sel", "run"], sort=False)[metric].mean().reset_index()
        found.append(p_sel_chart(metric, level, curves(runs, "p_sel", metric, "membership", across=100)))
    return Sheet(found, columns=2)
