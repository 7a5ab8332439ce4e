"""The page of a comparison: the cheapest systems, cost against reliability, and a summary table.

It reads `compare.parquet`: a row for each world, system, setting (`knob`), fault and metric, with the mean
over seeds and its interval. Costs are shown at each system's working point (`sims.compare.summary`).
"""

from __future__ import annotations

from itertools import product
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from sims.compare.summary import cost, ends, family_in, is_between, systems_in, value, working_point
from sims.compare.worlds import WORKING, Rule, world_options
from sims.report.cells import Cell, share_text, table_html
from sims.report.charts import Chart, Series, figure_html
from sims.report.fault_words import stress_label
from sims.report.html import Page
from sims.report.sources import Source
from sims.report.sweeps import mean_cell

COST = "bytes_per_delivery"
CRASHED = 0.3  # share of crashed peers in the summary table
NEEDED = ("world", "system", "knob", "loss", "crashed", "metric", "mean", "low", "high")
PUBLISHED = {
    "bytes per delivery": COST,
    "copies per delivery": "copies_per_delivery",
    "spam per delivery": "spam_per_delivery",
    "ms to the last": "last_ms_median",
}
BUILT = {"links per peer": "links.mean", "upkeep messages per peer and cycle": "upkeep_messages.mean"}
BUDGET = ("links.total", "links.mean", "upkeep_messages.mean", "messages_per_event")
RATES = np.logspace(-2, 3, 26)
_STUDENT_OF_TWO = 12.7062047  # 0.975 quantile of Student's t with one degree of freedom


def add_comparison(page: Page, source: Source) -> None:
    """Add finding, chart and summary of a folder that `sub2sub compare` wrote."""
    table = _table(source)
    if table is None:
        return
    worlds, looks = _worlds(table), _looks(table)
    headlines = (f"- {_headline(table, world)}" for world in worlds if not is_between(world))
    page.heading("Costs compared").finding("\n".join(headlines))
    stresses = _stresses(table)
    selects = {
        "World": [world_label(world) for world in worlds],
        "Fault": [stress_label(*stress) for stress in stresses],
    }
    charts = (_frontier(table, world, stress, looks) for world, stress in product(worlds, stresses))
    usual = (WORKING.loss, WORKING.crashed)
    first = stresses.index(usual) if usual in stresses else 0
    page.choices(selects, (figure_html(page, chart) for chart in charts), (0, first))
    page.heading("Summary")
    page.choices({"World": selects["World"]}, (_summary(table, world) for world in worlds))


def add_comparison_details(page: Page, source: Source) -> None:
    """Add charts: reliability under faults, all messages by rate of events, and from topics to ranges."""
    table = _table(source)
    if table is None:
        return
    worlds, looks = _worlds(table), _looks(table)
    names = [world_label(world) for world in worlds]
    with page.fold("Reliability under faults"):
        page.choices({"World": names}, (_faults(page, table, world, looks) for world in worlds))
    plain = [world for world in worlds if not is_between(world)]
    if plain:
        budgets = (figure_html(page, _budget(table, world, looks)) for world in plain)
        with page.fold("All messages against the rate of events"):
            page.choices({"World": [world_label(world) for world in plain]}, budgets)
    if len(family_in(table)) > 1:
        metrics = PUBLISHED | BUILT
        with page.fold("From topics to ranges"):
            families = (figure_html(page, _family(table, name, looks)) for name in metrics)
            page.choices({"Cost": list(metrics)}, families)


def world_label(world: str) -> str:
    """Return the label of a world.

    Examples
    --------
    >>> world_label("topics"), world_label("ranges power-law-3"), world_label("between 0.3")
    ('Topics', 'Ranges (power-law-3)', 'Between topics and ranges, t = 0.3')
    """
    kind, _, rest = world.partition(" ")
    if kind == "between":
        return f"Between topics and ranges, t = {rest}"
    rest, options = world_options(rest)
    grid = f", 2^{options['bits']} values" if "bits" in options else ""
    return kind.capitalize() + (f" ({PurePath(rest).stem}{grid})" if rest else "")


def _table(source: Source) -> pd.DataFrame | None:
    if source.columns("compare", *NEEDED) is None:
        return None
    found = source.table("compare")
    if found is None:
        return None
    table = found.to_pandas()
    if "seeds" in table:
        # Student's interval of two values is 13 times as wide as their distance, so the values are shown.
        both = table.seeds == 2
        reach = (table.high - table.low)[both] / 2 / _STUDENT_OF_TWO
        table.loc[both, "low"], table.loc[both, "high"] = (
            table["mean"][both] - reach,
            table["mean"][both] + reach,
        )
    return table


def _interval(table: pd.DataFrame) -> str:
    """Describe the columns low and high of a table."""
    two = "seeds" in table and int(table.seeds.max()) == 2
    return "the values of both seeds" if two else "95 % intervals over seeds"


def _worlds(table: pd.DataFrame) -> list[str]:
    return [str(world) for world in dict.fromkeys(table.world)]


def _looks(table: pd.DataFrame) -> dict[str, int]:
    """Assign a colour and a marker to each system, the same in all charts."""
    return {str(system): k for k, system in enumerate(dict.fromkeys(table.system))}


def _stresses(table: pd.DataFrame) -> list[tuple[float, float]]:
    found = table[table.metric == "hit_ratio"][["loss", "crashed"]].drop_duplicates()
    return sorted(map(tuple, found.to_numpy().tolist()), key=lambda pair: (pair[1], pair[0]))


def _headline(table: pd.DataFrame, world: str) -> str:
    """Name the cheapest systems that deliver enough with some messages lost."""
    costs = {}
    systems = systems_in(table, world)
    for system in systems:
        point = working_point(table, world, system)
        if point is not None and point.reached:
            costs[system] = (ends(cost(table, world, system, COST))[0], point.knob)
    start = f"**{world_label(world)}**: "
    if not costs:
        return f"{start}none of {len(systems)} systems delivers {Rule()}."
    first, *others = sorted(costs, key=lambda system: costs[system][0])
    text = (
        f"{start}**{first}** ({costs[first][1]}) needs the fewest bytes per delivery, "
        f"**{costs[first][0]:,.0f}**, of the {len(costs)} of {len(systems)} systems that deliver "
        f"{Rule()}"
    )
    return text + (f"; next is {others[0]} with {costs[others[0]][0]:,.0f}." if others else ".")


def _frontier(table: pd.DataFrame, world: str, stress: tuple[float, float], looks: dict[str, int]) -> Chart:
    loss, crashed = stress
    now = table[(table.world == world) & (table.loss == loss) & (table.crashed == crashed)]
    series = []
    for system in systems_in(table, world):
        own = now[now.system == system]
        hit = own[own.metric == "hit_ratio"].set_index("knob")
        messages = own[own.metric == COST].set_index("knob")["mean"].reindex(hit.index)
        order = messages.dropna().sort_values(kind="stable").index
        if not len(order):
            continue
        reached = hit.loc[order, "mean"].to_numpy()
        best = np.maximum.accumulate(reached)  # a setting that costs more and reaches no more is left out
        order = order[np.concatenate([[True], reached[1:] > best[:-1]])]
        ends = [hit.loc[order, side].fillna(hit.loc[order, "mean"]).clip(0, 1) for side in ("low", "high")]
        series.append(
            Series(
                system, messages[order], hit.loc[order, "mean"], low=ends[0], high=ends[1],
                names=[str(knob) for knob in order], look=looks[system],
            )
        )  # fmt: skip
    return Chart(
        f"Cost against reliability: {world_label(world)}, {stress_label(loss, crashed)}",
        "bytes per delivery", "subscribers reached", series, log_x=True, nines=True, pick="point",
        height=400,
        caption="Each line is a system, each point one of its settings (fan-out, shortcuts); settings that "
        "cost more and reach no more are left out. Pointing at a line shows "
        f"{_interval(table)}. Better is higher and further to the left.",
    )  # fmt: skip


def _summary(table: pd.DataFrame, world: str) -> Markup:
    """Return a table with a row for each system; below it, the reasons for missing numbers."""
    rows, notes = [], []
    losses = (0.0, WORKING.loss)
    for system in systems_in(table, world):
        point = working_point(table, world, system)
        knob = point.knob if point else ""
        row: dict[str, Any] = {"system": system, "setting": knob or None}
        stresses = {"reached": (0.0, 0.0), f"reached, {share_text(losses[1])} lost": (losses[1], 0.0),
                    f"reached, {share_text(CRASHED)} crashed": (0.0, CRASHED)}  # fmt: skip
        for name, (loss, crashed) in stresses.items():
            mean = ends(value(table, world, system, "hit_ratio", knob, loss, crashed))[0]
            row[name] = Cell(share_text(float(mean)), float(mean)) if np.isfinite(mean) else None
        for name, metric in (PUBLISHED | BUILT).items():
            row[name] = mean_cell(*ends(cost(table, world, system, metric)))
        rows.append(row)
        unable = value(table, world, system, "unable")
        if unable is not None and unable.note:
            notes.append(f"{system}: {unable.note}.")
    caption = (
        f"{world_label(world)}: each system at its working point, the cheapest setting that reaches "
        f"{Rule()} (else the one that then reaches most). Costs with {WORKING}; ± spans {_interval(table)}."
    )
    html = table_html(rows, caption, fit=True, name=f"summary {world}")
    return html + Markup("").join(Markup('<p class="aside">{}</p>').format(note) for note in notes)


def _faults(page: Page, table: pd.DataFrame, world: str, looks: dict[str, int]) -> Markup:
    charts = []
    for axis, title in enumerate(("messages lost", "peers crashed")):
        stresses = [stress for stress in _stresses(table) if stress[1 - axis] == 0]
        series = []
        for system in systems_in(table, world):
            point = working_point(table, world, system)
            if point is None:
                continue
            found = [value(table, world, system, "hit_ratio", point.knob, *stress) for stress in stresses]
            cells = np.array([ends(cell) for cell in found])
            x = [100 * stress[axis] for stress in stresses]
            series.append(Series(system, x, 100 * cells[:, 0], low=100 * cells[:, 1],
                                 high=100 * np.minimum(cells[:, 2], 1), look=looks[system]))  # fmt: skip
        heading = f"{title.capitalize()}: {world_label(world)}"
        charts.append(Chart(heading, f"% of the {title}", "% of subscribers reached", series, top=102))
    return Markup('<div class="charts">{}</div>').format(
        Markup("").join(figure_html(page, chart) for chart in charts)
    )


def _budget(table: pd.DataFrame, world: str, looks: dict[str, int]) -> Chart:
    series = []
    for system in systems_in(table, world):
        total, mean, upkeep, event = (ends(cost(table, world, system, metric))[0] for metric in BUDGET)
        if np.isfinite([total, mean, upkeep, event]).all() and mean > 0:
            size = total / mean  # subscribers
            series.append(Series(system, RATES, upkeep + RATES * event / size, look=looks[system]))
    return Chart(
        f"All messages: {world_label(world)}", "events per cycle, in the whole system",
        "messages per peer and cycle", series, log_x=True, log_y=True, height=340,
        caption="Upkeep and events together, without faults, at the working points.",
    )  # fmt: skip


def _family(table: pd.DataFrame, name: str, looks: dict[str, int]) -> Chart:
    series, steps = [], family_in(table)
    for system in systems_in(table, steps[0][1]):
        metric = (PUBLISHED | BUILT)[name]
        cells = np.array([ends(cost(table, world, system, metric)) for _, world in steps])
        x = [t for t, _ in steps]
        series.append(Series(system, x, cells[:, 0], low=cells[:, 1], high=cells[:, 2], look=looks[system]))
    return Chart(
        f"{name.capitalize()}, from topics to ranges", "share of free ranges, t", name, series, height=320,
        caption=f"At the working points, without faults; bands are {_interval(table)}.",
    )  # fmt: skip
