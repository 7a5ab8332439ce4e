"""The charts of a comparison: frontiers, faults, the family between, and what a budget buys.

They are the same in the figures of a comparison and in the page of `sub2sub report`. Every system has one
look in all charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sims.compare.summary import cost, ends, family_in, is_between, systems_in, value, working_point
from sims.compare.worlds import FAULTS, FRONTIER
from sims.rivals.base.catalogue import entrant, is_known
from workloads.charts.chart import Chart, Series, Sheet
from workloads.charts.drawing import drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COST = "bytes_per_delivery"
COSTS = {
    "bytes per delivery": COST,
    "copies per delivery": "copies_per_delivery",
    "spam per delivery": "spam_per_delivery",
    "ms to the last": "last_ms_median",
    "links per peer": "links.mean",
    "upkeep messages per peer and cycle": "upkeep_messages.mean",
    "hops to the last": "hops_to_last_match",
    "upkeep bytes per peer and cycle": "upkeep_bytes.mean",
}
BUDGET = ("links.total", "links.mean", "upkeep_messages.mean", "messages_per_event")
RATES = np.logspace(-2, 3, 26)
FRONTIER_WORDS = (
    "Each line is a system, each point one of its settings (fan-out, shortcuts); settings that cost more and "
    "reach no more are left out. Better is higher and further to the left."
)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, Figure]]:
    """All figures with their names; drawn one after the other."""
    worlds = [str(world) for world in dict.fromkeys(table.world)]
    for world in (world for world in worlds if not is_between(world)):
        slug = re.sub(r"[^\w.=-]", "-", world)
        sheets = {
            "frontier": Sheet([frontier_chart(table, world, *fault) for fault in FRONTIER]),
            "faults": Sheet(fault_charts(table, world)),
            "budget": Sheet([budget_chart(table, world)]),
        }
        for name, sheet in sheets.items():
            with drawn(sheet) as figure:
                yield f"{name}-{slug}", figure
    if len(family_in(table)) > 1:
        known = set(table.metric[table["mean"].notna()])
        charts = [family_chart(table, name) for name, metric in COSTS.items() if metric in known]
        with drawn(Sheet(charts, columns=3)) as figure:
            yield "family", figure


def dressed(table: pd.DataFrame, system: str) -> dict[str, Any]:
    """How a system looks: a number for the page, and what its rival's file says for figures."""
    number = list(dict.fromkeys(table.system)).index(system)
    return {"look": number, "dress": tuple(entrant(system).look) if is_known(system) else None}


def stress_label(loss: float, crashed: float) -> str:
    """The label of the faults under which a cell was measured.

    Examples
    --------
    >>> stress_label(0.0, 0.0), stress_label(0.15, 0.0), stress_label(0.05, 0.3)
    ('no faults', '15 % of the messages lost', '5 % of the messages lost, 30 % of the peers crashed')
    """
    parts = [f"{100 * loss:g} % of the messages lost"] if loss else []
    parts += [f"{100 * crashed:g} % of the peers crashed"] if crashed else []
    return ", ".join(parts) or "no faults"


def frontier_chart(table: pd.DataFrame, world: str, loss: float, crashed: float) -> Chart:
    """Reliability against cost; a setting that costs more and reaches no more is left out."""
    now = table[(table.world == world) & (table.loss == loss) & (table.crashed == crashed)]
    series = []
    for system in systems_in(table, world):
        own = now[now.system == system]
        hit = own[own.metric == "hit_ratio"].set_index("knob")
        price = own[own.metric == COST].set_index("knob")["mean"].reindex(hit.index)
        order = price.dropna().sort_values(kind="stable").index
        if not len(order):
            continue
        reached = hit.loc[order, "mean"].to_numpy()
        best = np.maximum.accumulate(reached)
        order = order[np.concatenate([[True], reached[1:] > best[:-1]])]
        low, high = (hit.loc[order, end].fillna(hit.loc[order, "mean"]).clip(0, 1) for end in ("low", "high"))
        series.append(
            Series(
                system, price[order], hit.loc[order, "mean"], low=low, high=high,
                names=[str(knob) for knob in order], **dressed(table, system),
            )
        )  # fmt: skip
    return Chart(
        stress_label(loss, crashed), "bytes per delivery", "subscribers reached", series, log_x=True,
        nines=True, pick="point", height=400, caption=FRONTIER_WORDS,
    )  # fmt: skip


def fault_charts(table: pd.DataFrame, world: str) -> list[Chart]:
    """Hit ratio at the working points by messages lost, and by peers crashed."""
    charts = []
    for axis, title in enumerate(("messages lost", "peers crashed")):
        faults = [fault for fault in FAULTS if fault[1 - axis] == 0]
        series = []
        for system in systems_in(table, world):
            point = working_point(table, world, system)
            if point is None:
                continue
            found = [value(table, world, system, "hit_ratio", point.knob, *fault) for fault in faults]
            mean, low, high = np.array([ends(cell) for cell in found]).T * 100
            x = [100 * fault[axis] for fault in faults]
            series.append(
                Series(
                    system,
                    x,
                    mean,
                    low=np.maximum(low, 0),
                    high=np.minimum(high, 100),
                    **dressed(table, system),
                )
            )
        labels = f"% of the {title}", "% of subscribers reached"
        charts.append(Chart(title.capitalize(), *labels, series, top=102))
    return charts


def budget_chart(table: pd.DataFrame, world: str) -> Chart:
    """All messages, upkeep and events, against how often events are published."""
    series = []
    for system in systems_in(table, world):
        total, mean, upkeep, event = (ends(cost(table, world, system, metric))[0] for metric in BUDGET)
        if np.isfinite([total, mean, upkeep, event]).all() and mean > 0:
            size = total / mean  # subscribers
            y = upkeep + RATES * event / size
            series.append(Series(system, RATES, y, **dressed(table, system)))
    return Chart(
        "All messages", "events per cycle, in the whole system", "messages per peer and cycle", series,
        log_x=True, log_y=True, height=340,
        caption="Upkeep and events together, at the working points.",
    )  # fmt: skip


def family_chart(table: pd.DataFrame, name: str) -> Chart:
    """One of `COSTS` from topics to ranges."""
    series, steps = [], family_in(table)
    for system in systems_in(table, steps[0][1]):
        mean, low, high = np.array([ends(cost(table, world, system, COSTS[name])) for _, world in steps]).T
        x = [t for t, _ in steps]
        series.append(Series(system, x, mean, low=low, high=high, **dressed(table, system)))
    return Chart(
        name.capitalize(), "share of free ranges, t", name, series, height=320,
        caption="At the working points.",
    )  # fmt: skip
