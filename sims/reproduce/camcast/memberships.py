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
from typing import Any

import numpy as np
import pandas as pd

from sims.reproduce.camcast.measured import KINDS, METRICS, P_SEL, plan
from sims.reproduce.claims import Claim, Claims, intervals, observed, rounded, share_interval, stated
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Reference, Series, Sheet, curves
from workloads.statistics.intervals import below

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
SECTION = "CAMCAST, Section 6.2.2"
VERY = 0.9  # "very good", "very high"
LOW = 0.1  # "even for a low inter-community dissemination probability"


def means_by(events: pd.DataFrame, metric: str, level: str) -> pd.DataFrame:
    """Means over runs and events, by p_sel and membership."""
    own = events[events.community == level]
    means = own.groupby(["p_sel", "membership"])[metric].mean().unstack("membership")
    return pd.DataFrame(means[list(dict.fromkeys(own.membership))])


def _at(own: pd.DataFrame, p_sel: float) -> pd.DataFrame:
    return own[np.isclose(own.p_sel, p_sel)]


def _by_run(own: pd.DataFrame, metric: str) -> dict[str, pd.Series[float]]:
    """Means of each run, by membership: events of one run share tables."""
    runs = own.groupby(["membership", "run"], sort=False)[metric].mean()
    return {str(kind): values for kind, values in runs.groupby("membership", sort=False)}


def _means(runs: Mapping[str, pd.Series[float]]) -> dict[str, float]:
    return rounded({kind: values.mean() for kind, values in runs.items()}, 3)


def _shares(events: Any) -> dict[str, list[float]]:
    """Intervals of shares of events, by membership."""
    return {str(kind): share_interval(values.sum(), len(values), 3) for kind, values in events}


def _greatest(runs: Mapping[str, pd.Series[float]], kind: str) -> bool:
    """Whether one membership is above all others, by more than chance explains."""
    return all(below(values, runs[kind]) for other, values in runs.items() if other != kind)


def _in_order(runs: Mapping[str, pd.Series[float]], *kinds: str) -> bool:
    """Whether memberships rise in this order, by more than chance explains."""
    return all(below(runs[less], runs[more]) for less, more in pairwise(kinds))


def _reception(own: pd.DataFrame, figure: int) -> Claims:
    ends = _at(own, 1.0).groupby("membership", sort=False).reception
    low = _by_run(own[own.p_sel <= LOW], "reception")
    at = _at(own, LOW).groupby("membership").reception.mean()
    yield stated(
        "reception at p_sel = 1, by membership (above 0.99 in all)",
        f"{SECTION}, Figure {figure}: all three converge to a reception probability of 100 %; the bound is "
        "ours", 1.0, rounded(ends.mean(), 3), ends.mean().min() > 0.99, interval=intervals(ends, 3),
    )  # fmt: skip
    yield stated(
        f"mean reception for p_sel up to {LOW}, by membership: structured highest, beyond chance",
        f"{SECTION}, Figure {figure}: the structured approach converges fastest", "structured highest",
        _means(low), _greatest(low, "structured"), interval=intervals(low, 3),
    )  # fmt: skip
    yield stated(
        f"reception with the structured membership at p_sel = {LOW} (at least {VERY})",
        f"{SECTION}, Figure {figure}: structured gives very good results even for a low p_sel; the bound is "
        "ours", "very good", round(float(at["structured"]), 3), at["structured"] >= VERY,
    )  # fmt: skip


def chance_of_all(reliability: Mapping[str, float]) -> float:
    """Chance that at least one membership shows 100 % in as many runs as the paper made.

    Examples
    --------
    >>> round(chance_of_all({"unstructured": 0.8, "semi-structured": 0.8, "structured": 0.0}), 3)
    0.4
    """
    none = [1 - share ** PAPER_RUNS[kind] for kind, share in reliability.items()]
    return float(1 - np.prod(none))


def _reliability(own: pd.DataFrame, figure: int) -> Claims:
    seven = _at(own, 0.07).groupby("membership", sort=False).reliability
    ten = _at(own, LOW).groupby("membership", sort=False).reliability
    low = _by_run(own[own.p_sel <= LOW], "reliability")
    yield observed(
        "share of events that reach everybody at p_sel = 0.07, by membership; and the chance that one of "
        "the memberships shows 100 % in 5 to 10 runs",
        {**rounded(seven.mean(), 3), "chance": round(chance_of_all(seven.mean().to_dict()), 3)},
        source="CAMCAST, Sections 1.4 and 7: 100 % reliability with 7 % of the processes forwarding upward, "
        "of 5 to 10 runs", paper=1.0, interval=_shares(seven),
    )  # fmt: skip
    yield stated(
        f"share of events that reach everybody at p_sel = {LOW}, by membership (at least {VERY} in all)",
        f"{SECTION}, Figure {figure}: reliability of all is very high even with {LOW}; the bound is ours",
        "very high", rounded(ten.mean(), 3), ten.mean().min() >= VERY, interval=_shares(ten),
    )  # fmt: skip
    yield stated(
        f"mean reliability for p_sel up to {LOW}, by membership: structured highest, beyond chance",
        f"{SECTION}: the structured approach has the greatest reliability (Figure {figure})",
        "structured highest", _means(low), _greatest(low, "structured"), interval=intervals(low, 3),
    )  # fmt: skip


def _efficiency(own: pd.DataFrame, figure: int) -> Claims:
    means = means_by(own, "efficiency", str(own.community.iloc[0]))
    low = _by_run(own[own.p_sel <= LOW], "efficiency")
    best = {kind: float(column.idxmax()) for kind, column in means.items()}
    falls = [
        below(_by_run(_at(own, 1.0), "efficiency")[kind], _by_run(_at(own, p_sel), "efficiency")[kind])
        for kind, p_sel in best.items()
    ]
    yield stated(
        "efficiency at p_sel = 1 as a share of its best value, by membership (below 1 in all, beyond chance)",
        f"{SECTION}, Figure {figure}: a higher p_sel increases the number of duplicates", "falls",
        rounded(means.loc[1.0] / means.max(), 3), all(falls),
    )  # fmt: skip
    yield stated(
        f"mean efficiency for p_sel up to {LOW}: structured above semi-structured above unstructured, "
        "beyond chance",
        f"{SECTION}, Figure {figure}: the structured approach behaves better than the semi-structured, "
        "which is better than the unstructured", "in this order", _means(low),
        _in_order(low, "unstructured", "semi-structured", "structured"), interval=intervals(low, 3),
    )  # fmt: skip


def _latency(own: pd.DataFrame, figure: int) -> Claims:
    before, after = (_by_run(_at(own, p), "latency") for p in (LOW, 1.0))
    yield stated(
        "rounds to the last reception at p_sel = 1 less those at 0.1, by membership (negative in all, "
        "beyond chance)", f"{SECTION}, Figure {figure}: latency decreases while p_sel increases", "negative",
        rounded({kind: after[kind].mean() - before[kind].mean() for kind in after}, 3),
        all(below(after[kind], before[kind]) for kind in after),
    )  # fmt: skip
    yield stated(
        "rounds to the last reception at p_sel = 1: structured, semi-structured, unstructured rise in this "
        "order, beyond chance", f"{SECTION}, Figure {figure}: the nearer to a random graph, the fewer hops",
        "in this order", _means(after), _in_order(after, "structured", "semi-structured", "unstructured"),
        interval=intervals(after, 2),
    )  # fmt: skip


def _upward(own: pd.DataFrame, figure: int) -> Claims:
    ends, low = (_at(own, p_sel).groupby("membership").upward.mean() for p_sel in (1.0, LOW))
    growth = ends / low
    yield stated(
        "upward messages at p_sel = 1 over those at 0.1, by membership (10, within 20 %)",
        f"{SECTION}, Figure {figure}: directly influenced by p_sel, as expected from the analysis (in "
        "proportion; the bound is ours)", 10.0, rounded(growth, 3),
        bool(((growth / 10 - 1).abs() < 0.2).all()),
    )  # fmt: skip


JUDGES: dict[str, Callable[[pd.DataFrame, int], Claims]] = {
    "reception": _reception,
    "reliability": _reliability,
    "efficiency": _efficiency,
    "latency": _latency,
    "upward": _upward,
}


def _sizes(tables: pd.DataFrame) -> Claims:
    """The paper's statement on the sizes of its tables."""
    means = tables.groupby(["membership", "community"], sort=False)[["entries", "processes"]].mean()
    off = (means.entries - np.log(means.processes)).abs()
    yield stated(
        "mean entries of a topic table, by membership in a, d, g: within one of ln N",
        "CAMCAST, Section 6.2.1: tables of ln N + c entries, c = 0",
        {kind: np.log(sizes).round(2).tolist() for kind, (_, sizes) in KINDS.items()},
        {str(kind): own.entries.round(2).tolist() for kind, own in means.groupby("membership", sort=False)},
        off.max() < 1.0,
    )  # fmt: skip


def _orphans(tables: pd.DataFrame) -> Claims:
    """The premise of the paper's ranking: every process is in some table."""
    sums = tables.groupby(["membership", "run"], sort=False).orphans.sum()
    found = {str(kind): values for kind, values in sums.groupby("membership", sort=False)}
    yield stated(
        "processes in nobody's topic table, by membership: fewest in the structured one, beyond chance",
        f"{SECTION}: the structured approach is best thanks to uniform tables",
        "fewest in the structured one", _means(found),
        all(below(found["structured"], found[kind]) for kind in found if kind != "structured"),
        interval=intervals(found, 3),
    )  # fmt: skip


ABOUT_TABLES = {19: _sizes, 21: _orphans, 22: _orphans}


def judge(tables: Tables) -> Claims:
    """Figure by figure."""
    for number, (metric, level) in FIGURES.items():
        events = tables["events"]
        for claim in JUDGES[metric](events[events.community == level], number):
            yield at_level(claim, number)
        if number in ABOUT_TABLES:
            for claim in ABOUT_TABLES[number](tables["tables"]):
                yield at_level(claim, number)


def at_level(claim: Claim, number: int) -> Claim:
    """The claim of one figure, which says so."""
    return replace(claim, claim=f"Figure {number}, community {FIGURES[number][1]}: {claim.claim}")


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


REPRODUCTIONS = {"camcast-memberships": (plan, judge, charts)}
