"""The page of a comparison: the finding, the tables and the figures in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sims.compare.plan import Plan
from sims.compare.summary import is_between, rule_of, summary
from sims.report.html import Page

HOW = (
    "Every system gets the same subscribers, the same events in the same order from the same publishers, the "
    "same crashed peers and the same loss rate. A system's own upkeep is run and billed; nothing the "
    "simulator knows helps a protocol. Each system is shown at its *working point*, the cheapest of its "
    "settings that deliver {rule}, chosen with other events by the lower end of the confidence interval, and "
    "as it is by default. One that does not deliver that is shown with what it delivers at best; its costs "
    "cannot be compared with others'. What each system knows and how each cost is counted is told in "
    "docs/compare.md."
)


def write_page(
    path: Path, table: pd.DataFrame, plan: Plan, sentences: Sequence[str], drawn: Sequence[tuple[Path, str]]
) -> None:
    """Write the page."""
    page = Page(
        "What a topic costs, what a range costs",
        f"{plan.subscribers:,} subscribers, {plan.events} events, {plan.seeds} seeds",
    )
    page.heading("Finding").text("\n\n".join(sentences)).text(HOW.format(rule=rule_of(table)))
    family = [world for world in plan.worlds if is_between(world)]
    for world in plan.worlds:
        if world not in family:
            _table(page.heading(world), table, world)
            slug = world.replace(" ", "-").replace("/", "-")
            _figures(page, [(file, caption) for file, caption in drawn if file.stem.endswith(f"-{slug}")])
    if family:
        page.heading("The family between")
        _figures(page, [(file, caption) for file, caption in drawn if file.stem == "family"])
        for world in family:
            _table(page.heading(f"t = {world.split()[1]}", level=3), table, world)
    page.write(path)


def _table(page: Page, table: pd.DataFrame, world: str) -> None:
    fault = rule_of(table).faults[0]
    page.table(
        summary(table, world), f"Means over seeds ± half of the 95 % confidence interval, with {fault}."
    )


def _figures(page: Page, drawn: Sequence[tuple[Path, str]]) -> None:
    for file, caption in drawn:
        page.figure(file, caption)
