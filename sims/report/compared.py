"""The page of a comparison: the cheapest systems, cost against reliability, and a summary table.

It reads `compare.parquet`: a row for each world, system, setting (`knob`), fault and metric, with the mean
over seeds and its interval. Costs are shown at each system's working point (`sims.compare.summary`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from sims.compare.figures import (
    COST,
    COSTS,
    budget_chart,
    family_chart,
    fault_charts,
    frontier_chart,
    stress_label,
)
from sims.compare.findings import BOUND, RINGS, rings_cost_less, world_label
from sims.compare.summary import cost, ends, family_in, is_between, rule_of, systems_in, value, working_point
from sims.compare.worlds import WORKING, Rule
from sims.report.cells import Cell, share_text, table_html
from sims.report.charts import figure_html
from sims.report.html import Page
from sims.report.sources import Source
from sims.report.sweeps import mean_cell
from workloads.charts.chart import Chart, Series

COLOURED = 4  # systems; the others are grey until they are pointed at
# The costs that fit beside each other.
COLUMNS = (
    "bytes per delivery", "spam per delivery", "ms to the last", "links per peer",
    "upkeep messages per peer and cycle",
)  # fmt: skip
NEEDED = ("world", "system", "knob", "loss", "crashed", "metric", "mean", "low", "high")
HOW = (
    "Every system gets the same subscribers, the same events in the same order from the same publishers, the "
    "same crashed peers and the same rate of loss, and is billed for its own upkeep. What each system knows "
    "and how each cost is counted: docs/compare.md."
)
_STUDENT_OF_TWO = 12.7062047  # 0.975 quantile of Student's t with one degree of freedom


def add_comparison(page: Page, source: Source) -> None:
    """Add finding, chart and summary of a folder that `sub2sub compare` wrote."""
    table = _table(source)
    if table is None:
        return
    worlds = _by_world(table)
    page.heading("Costs compared")
    stresses = _stresses(table)
    selects = {
        "World": [world_label(world) for world in worlds],
        "Fault": [stress_label(*stress) for stress in stresses],
    }
    pointing = (
        f" In colour: rings, and the {COLOURED - 1} others that take the fewest bytes at working points. "
        f"Point at a line or at a name, or click it, to bring it forward with {_interval(table)}."
    )
    charts = (
        _titled(frontier_chart(part, world, *stress), world, front, "Cost against reliability", pointing)
        for world, (part, front) in worlds.items()
        for stress in stresses
    )
    usual = (WORKING.loss, WORKING.crashed)
    first = stresses.index(usual) if usual in stresses else 0
    page.choices(selects, (figure_html(page, chart) for chart in charts), (0, first))
    page.finding(*_findings(source)).aside(HOW)
    page.heading("Summary")
    page.choices({"World": selects["World"]}, (_summary(part, world) for world, (part, _) in worlds.items()))


def add_comparison_details(page: Page, source: Source) -> None:
    """Add charts: reliability under faults, all messages by rate of events, and from topics to ranges."""
    table = _table(source)
    if table is None:
        return
    worlds = _by_world(table)
    names = [world_label(world) for world in worlds]
    with page.fold("Reliability under faults"):
        page.choices({"World": names}, (_faults(page, world, *own) for world, own in worlds.items()))
    plain = {world: own for world, own in worlds.items() if not is_between(world)}
    if plain:
        budgets = (
            figure_html(page, _titled(budget_chart(part, world), world, front))
            for world, (part, front) in plain.items()
        )
        with page.fold("All messages against the rate of events"):
            page.choices({"World": [world_label(world) for world in plain]}, budgets)
    if len(family_in(table)) > 1:
        metrics = [name for name in COSTS if COSTS[name] in set(table.metric)]
        with page.fold("From topics to ranges"):
            families = (figure_html(page, family_chart(table, name)) for name in metrics)
            page.choices({"Cost": metrics}, families)


def _table(source: Source) -> pd.DataFrame | None:
    if source.columns("compare", *NEEDED) is None:
        return None
    found = source.table("compare")
    if found is None:
        return None
    table = found.to_pandas()
    if rule := source.settings().get("compare", {}).get("rule"):
        table.attrs["rule"] = Rule.of(rule)
    if "seeds" in table:
        # Student's interval of two values is 13 times as wide as their distance, so the values are shown.
        both = table.seeds == 2
        reach = (table.high - table.low)[both] / 2 / _STUDENT_OF_TWO
        table.loc[both, "low"], table.loc[both, "high"] = (
            table["mean"][both] - reach,
            table["mean"][both] + reach,
        )
    return table


def _findings(source: Source) -> list[str]:
    """The sentences that the command printed."""
    file = source.path / "finding.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _interval(table: pd.DataFrame) -> str:
    """Describe the columns low and high of a table."""
    two = "seeds" in table and int(table.seeds.max()) == 2
    return "the values of both seeds" if two else "95 % intervals over seeds"


def _by_world(table: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, list[str]]]:
    """The cells of each world, which are found sooner in a small table, and the systems in colour there."""
    parts = {str(world): table[table.world == world] for world in dict.fromkeys(table.world)}
    return {world: (part, _front(part, world)) for world, part in parts.items()}


def _stresses(table: pd.DataFrame) -> list[tuple[float, float]]:
    found = table[table.metric == "hit_ratio"][["loss", "crashed"]].drop_duplicates()
    return sorted(map(tuple, found.to_numpy().tolist()), key=lambda pair: (pair[1], pair[0]))


def _summary(table: pd.DataFrame, world: str) -> Markup:
    """Return a table with a row for each system; below it, the reasons for missing numbers."""
    rows, notes = [], []
    for system in systems_in(table, world):
        point = working_point(table, world, system)
        knob = point.knob if point else ""
        row: dict[str, Any] = {"system": system, "setting": knob or None}
        for fault in rule_of(table).faults:
            mean = float(ends(value(table, world, system, "hit_ratio", knob, *fault))[0])
            row[f"reached, {fault}"] = Cell(share_text(mean), mean) if np.isfinite(mean) else None
        for name in COLUMNS:
            row[name] = mean_cell(*ends(cost(table, world, system, COSTS[name])))
        if rate := rings_cost_less(table, world, system):
            row["rings cost less, events"] = rate
        rows.append(row)
        unable = value(table, world, system, "unable")
        if unable is not None and unable.note:
            notes.append(f"{system}: {unable.note}.")
    caption = (
        f"{world_label(world)}: each system at its working point, the cheapest setting that delivers "
        f"{rule_of(table)} (else the one that then delivers most). Costs with {WORKING}; ± spans "
        f"{_interval(table)}. Last column: the rates of events at which rings take fewer bytes in all."
    )
    html = table_html(rows, caption, fit=True, name=f"summary {world}")
    return html + Markup("").join(Markup('<p class="aside">{}</p>').format(note) for note in notes)


def _front(table: pd.DataFrame, world: str) -> list[str]:
    """Return the systems in colour: rings, then the cheapest of those that deliver, one of each family."""

    def order(system: str) -> tuple[bool, bool, float]:
        point, price = working_point(table, world, system), ends(cost(table, world, system, COST))[0]
        return system != RINGS, point is None or not point.reached, np.nan_to_num(price, nan=np.inf)

    families: dict[str, str] = {}
    for system in sorted(systems_in(table, world), key=order):
        if system != BOUND:
            families.setdefault(system.partition(",")[0], system)
    return list(families.values())[:COLOURED]


def _toned(series: Series, front: list[str]) -> Series:
    """Give one of a few systems a colour; paint others grey, and the bound as what it is."""
    if series.label == BOUND:
        return replace(series, label=f"{BOUND} (a bound, no protocol)", style="black")
    if series.label in front:
        return replace(series, look=front.index(series.label))
    return replace(series, style="faint")


def _titled(chart: Chart, world: str, front: list[str], what: str = "", more: str = "") -> Chart:
    """A chart that says which world it shows, with some systems in colour; these come first in its legend."""
    title = f"{what}: {world_label(world)}, {chart.title}" if what else f"{chart.title}: {world_label(world)}"
    series = sorted(
        (_toned(series, front) for series in chart.series),
        key=lambda series: (bool(series.style), series.style, series.look if not series.style else 0),
    )
    return replace(chart, title=title, caption=chart.caption + more, series=series)


def _faults(page: Page, world: str, table: pd.DataFrame, front: list[str]) -> Markup:
    charts = (figure_html(page, _titled(chart, world, front)) for chart in fault_charts(table, world))
    return Markup('<div class="charts">{}</div>').format(Markup("").join(charts))
