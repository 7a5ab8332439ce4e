"""The table of a comparison as a person reads it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from sims.compare.plan import Plan
from sims.compare.summary import COLUMNS, summary


def markdown(table: pd.DataFrame, plan: Plan, sentences: Sequence[str]) -> str:
    """One section for each world: a row for each system, without faults."""
    lines = [
        "# What a topic costs, what a range costs",
        "",
        *(line for sentence in sentences for line in (sentence, "")),
        f"{plan.subscribers:,} subscribers, {plan.events} events, means over {plan.seeds} seeds ± half of "
        "the 95 % confidence interval, without faults. Each system at its working point: the cheapest of its "
        "settings that delivers 99 % with 5 % of the messages lost, by the lower end of the 95 % confidence "
        f"interval over {plan.seeds * plan.choosing:,} other events. A system that does not is shown with "
        "what it delivers at best, and its costs cannot be compared. "
        "Links and upkeep per peer (and cycle). How each cost is counted: docs/compare.md.",
        "",
    ]
    for world in plan.worlds:
        rows = summary(table, world)
        lines += [f"## {world}", "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        lines += ["| " + " | ".join(row[name] for name in COLUMNS) + " |" for row in rows]
        lines.append("")
    return "\n".join(lines)
