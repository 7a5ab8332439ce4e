"""Figures 19 to 28 of CAMCAST from live processes, beside the simulated ones (CAMCAST, Section 6.2).

The paper's statements are those of the simulated figures (`sims.reproduce.camcast.memberships`), judged by
the same functions; if only one membership is measured, statements that compare memberships are left out. That
live and simulated processes behave alike is our own statement.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.reproduce.camcast.measured import KINDS
from sims.reproduce.camcast.memberships import FIGURES, JUDGES, at_level, means_by, p_sel_chart
from sims.reproduce.claims import Claims, claim
from sims.reproduce.live.live_measured import unit
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Series, Sheet, curves

__all__ = ["unit"]

SHARES = ("reception", "reliability", "efficiency")


def judge(tables: Tables) -> Claims:
    """Figure by figure: live beside simulated processes, and the paper's statements on live ones."""
    for number, (metric, level) in FIGURES.items():
        events = tables["events"][tables["events"].community == level]
        yield from at_level(_judge(events, metric), number)


def _judge(events: pd.DataFrame, metric: str) -> Claims:
    live, simulated = (means_by(events[events.how == how], metric) for how in ("live", "simulated"))
    scale = 1.0 if metric in SHARES else np.maximum(simulated, 1.0)
    apart = ((live - simulated).abs() / scale).mean()
    relative = "" if metric in SHARES else ", relative to the simulated value"
    yield claim("alike", apart.round(3).to_dict(), apart, relative=relative)
    own = events[events.how == "live"]
    if own.membership.nunique() == len(KINDS):
        yield from JUDGES[metric](own)


def charts(tables: Tables) -> Sheet:
    """Live beside simulated, a chart for each metric in d and in a."""
    found = []
    for metric, level in FIGURES.values():
        events = tables["events"][tables["events"].community == level]
        series: list[Series] = []
        for how, style in (("live", ""), ("simulated", "open")):
            own = events[events.how == how]
            label = f"{{}}, {how}"
            series += curves(own, "p_sel", metric, "membership", label=label, across=100, style=style)
        found.append(p_sel_chart(metric, level, series))
    return Sheet(found, columns=2)
