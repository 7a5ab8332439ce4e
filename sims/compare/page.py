"""The page of a comparison: the finding, the tables and the figures in one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sims.compare.plan import Plan
from sims.compare.summary import COLUMNS, summary
from sims.report.html import Page

__all__ = ["write_page"]

HOW = (
    "Every system gets the same subscribers, the same events in the same order from the same publishers, the "
    "same crashed peers and the same loss rate. A system's own upkeep is run and billed; nothing the "
    "simulator knows helps a protocol. Costs are shown at each system's *working point*: the setting with "
    "the fewest messages among those that deliver 99 % with 5 % of the messages lost, or the one that then "
    "delivers most. "
    "What each system knows and how each cost is counted is told in docs/compare.md."
)


def write_page(
    path: Path, table: pd.DataFrame, plan: Plan, sentences: Sequence[str], drawn: Sequence[tuple[Path, str]]
) -> None:
    """Write the page."""
    page = Page(
        "What a topic costs, what a range costs",
        f"{plan.subscribers:,} subscribers, {plan.events} events, {plan.seeds} seeds",
    )
    page.heading("Finding").text("\n\n".join(sentences)).text(HOW)
    for world in plan.worlds:
        page.heading(world)
        rows = [{name: row[name] for name in COLUMNS} for row in summary(table, world)]
        page.table(rows, "Means over seeds ± half of the 95 % confidence interval, without faults.")
        slug = world.replace(" ", "-").replace("/", "-")
        for file, caption in drawn:
            if file.stem.endswith(f"-{slug}"):
                page.figure(file, caption)
    for file, caption in drawn:
        if file.stem == "family":
            page.heading("The family between").figure(file, caption)
    page.write(path)
