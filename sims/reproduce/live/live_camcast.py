"""Figures 19 to 28 of CAMCAST from live processes, beside the simulated ones (CAMCAST, Section 6.2).

The paper's statements are those of the simulated figures (`sims.reproduce.camcast.memberships`), judged by
the same functions; if only one membership is measured, statements that compare memberships are left out. That
live and simulated processes behave alike is our own statement.
"""

from __future__ import annotations

import numpy as np

from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.camcast.measured import KINDS
from sims.reproduce.camcast.memberships import FIGURES, JUDGES, curves, p_sel_axes, register_figures
from sims.reproduce.claims import OURS, Claims, stated
from sims.reproduce.live.live_measured import measure_live
from sims.reproduce.reproduction import Figures, Tables

SHARES = ("reception", "reliability", "efficiency")
APART = 0.15
LOOKS = {"live": {"marker": "o"}, "simulated": {"marker": "o", "markerfacecolor": "white", "linestyle": "--"}}


def judge(number: int, tables: Tables) -> Claims:
    """The paper's statements on live processes, and how far these are from simulated ones."""
    metric, level = FIGURES[number]
    events = tables["events"][tables["events"].community == level]
    live, simulated = (curves(events[events.how == how], metric, level) for how in ("live", "simulated"))
    scale = 1.0 if metric in SHARES else np.maximum(simulated, 1.0)
    apart = ((live - simulated).abs() / scale).mean()
    relative = "" if metric in SHARES else ", relative to the simulated value"
    yield stated(
        f"live processes do what simulated ones do: mean difference over p_sel{relative}, by membership "
        f"(below {APART} in all)", OURS, 0.0, apart.round(3).to_dict(), apart.max() < APART,
    )  # fmt: skip
    own = events[events.how == "live"]
    if own.membership.nunique() == len(KINDS):
        yield from JUDGES[metric](own, number)


def draw(number: int, tables: Tables) -> Figures:
    """Live beside simulated."""
    metric, level = FIGURES[number]
    events = tables["events"][tables["events"].community == level]
    fig, axes = figure()
    for kind in dict.fromkeys(events.membership):
        colour = COLOURS[list(KINDS).index(kind)]
        for how, look in LOOKS.items():
            own = events[(events.membership == kind) & (events.how == how)].groupby("p_sel")[metric]
            x, mean = 100 * own.mean().index, own.mean()
            axes.errorbar(x, mean, 1.96 * own.sem(), color=colour, label=f"{kind}, {how}", **look)
    p_sel_axes(axes, metric)
    axes.set_title(f"Community {level}, event of g, over TCP", fontsize=11)
    return {"": legend_above(fig, axes, 2, fontsize=8)}


register_figures("live-", ", live processes beside simulated ones", measure_live, judge, draw)
