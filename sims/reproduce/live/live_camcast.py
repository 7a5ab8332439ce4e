"""Figures 19 to 28 of CAMCAST from live processes, beside the simulated ones (CAMCAST, Section 6.2).

The paper's statements are those of the simulated figures (`sims.reproduce.camcast.memberships`), judged by
the same functions; where only one membership is measured, statements that compare memberships are left out.
That live processes do what simulated ones do is a statement of ours.
"""

from __future__ import annotations

import numpy as np

from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.camcast.measured import KINDS, P_SEL
from sims.reproduce.camcast.memberships import FIGURES, JUDGES, LABELS, curves
from sims.reproduce.claims import OURS, Claim, stated
from sims.reproduce.live.live_measured import measure_live
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Tables

SHARES = ("reception", "reliability", "efficiency")
APART = 0.15


def judge(number: int, tables: Tables) -> list[Claim]:
    """The paper's statements on live processes, and how far these are from simulated ones."""
    metric, level = FIGURES[number]
    events = tables["events"][tables["events"].community == level]
    live, simulated = (curves(events[events.how == how], metric, level) for how in ("live", "simulated"))
    scale = 1.0 if metric in SHARES else np.maximum(simulated, 1.0)
    apart = ((live - simulated).abs() / scale).mean()
    relative = "" if metric in SHARES else ", relative to the simulated value"
    same = stated(
        f"live processes do what simulated ones do: mean difference over p_sel{relative}, by membership "
        f"(below {APART} in all)",
        OURS, 0.0, apart.round(3).to_dict(), apart.max() < APART,
    )  # fmt: skip
    own = events[events.how == "live"]
    return [same, *(JUDGES[metric](own, number) if own.membership.nunique() == len(KINDS) else [])]


def draw(number: int, tables: Tables) -> Figures:
    """Live beside simulated."""
    metric, level = FIGURES[number]
    events = tables["events"][tables["events"].community == level]
    fig, axes = figure()
    for kind in dict.fromkeys(events.membership):
        colour = COLOURS[list(KINDS).index(kind)]
        for how, look in (
            ("live", {"marker": "o"}),
            ("simulated", {"marker": "o", "markerfacecolor": "white", "linestyle": "--"}),
        ):
            own = events[(events.membership == kind) & (events.how == how)].groupby("p_sel")[metric]
            axes.errorbar(
                100 * own.mean().index,
                own.mean(),
                1.96 * own.sem(),
                color=colour,
                label=f"{kind}, {how}",
                **look,
            )
    axes.set(xscale="log", xlabel="chance of sending upward, p_sel (%)", ylabel=LABELS[metric])
    axes.set_xticks([100 * p for p in P_SEL], [f"{100 * p:g}" for p in P_SEL])
    axes.minorticks_off()
    axes.set_ylim(bottom=0, top=1.03 if metric in ("reception", "reliability") else None)
    axes.set_title(f"Community {level}, event of g, over TCP", fontsize=11)
    legend_above(fig, axes, 2, fontsize=8)
    return {"": fig}


def _register(number: int) -> None:
    metric, level = FIGURES[number]
    register(
        f"live-camcast-fig{number}",
        f"{metric.capitalize()} in {level}, live processes beside simulated ones",
        measure=measure_live, judge=lambda tables: judge(number, tables), draw=lambda tables: draw(number,
        tables),
    )  # fmt: skip


for _number in FIGURES:
    _register(_number)
