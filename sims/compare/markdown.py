"""A comparison in Markdown: all systems of each world, and a short table for a README."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from sims.compare.plan import Plan
from sims.compare.summary import (
    COLUMNS,
    CRASHED,
    cost,
    ends,
    healed,
    is_between,
    percent,
    summary,
    systems_in,
    value,
    working_point,
)
from sims.compare.worlds import CRASH

# The metric of each column, and how it is written.
HEADLINE: dict[str, tuple[str, Callable[[float], str]]] = {
    "messages per delivery": ("messages_per_delivery", "{:.2f}".format),
    "spam per delivery": ("spam_per_delivery", "{:.2f}".format),
    "bytes per delivery": ("bytes_per_delivery", "{:,.0f}".format),
    "hops to the last": ("hops_to_last_match", "{:.1f}".format),
    "ms to the last, median": ("last_ms_median", "{:,.0f}".format),
    "ms, 99 %": ("last_ms_p99", "{:,.0f}".format),
    f"% delivered, {CRASH}": (CRASHED, percent),
    "links": ("links.mean", "{:.0f}".format),
    "memory bytes": ("memory_bytes.mean", "{:,.0f}".format),
    "upkeep messages": ("upkeep_messages.mean", "{:.1f}".format),
    "of the busiest": ("upkeep_messages.max", "{:.0f}".format),
    "cycles to heal": ("heal_cycles", "{:.0f}".format),
}


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


def headline(table: pd.DataFrame, plan: Plan) -> str:
    """A Markdown table for each world but those between topics and ranges, with an explanation."""
    lines = [
        f"{plan.subscribers:,} subscribers, {plan.seeds} seeds; each system at the cheapest of its settings "
        "that delivers 99 % with 5 % of the messages lost, and sub2sub as the library is by default. "
        f"Costs are those without faults; nothing is repaired where {CRASH}. Upkeep per peer and cycle.",
        "",
    ]
    for world in (world for world in plan.worlds if not is_between(world)):
        columns = [name for name in HEADLINE if _known(table, world, name)]
        lines += [
            f"**{world}**",
            "",
            f"| system | setting | {' | '.join(columns)} |",
            "|---|---|" + "---:|" * len(columns),
        ]
        rows, short, unable = [], [], []
        for system in systems_in(table, world):
            point = working_point(table, world, system)
            if point is None:
                reason = value(table, world, system, "unable")
                unable += [] if reason is None else [f"{system} ({reason.note})"]
                continue
            if not point.reached:
                short.append(f"{system} {point.hit:.3f}")
                continue
            shown = " | ".join(_shown(table, world, system, name) for name in columns)
            messages = ends(cost(table, world, system, "messages_per_delivery"))[0]
            rows.append((float(np.nan_to_num(messages)), f"| {system} | {point.knob} | {shown} |"))
        lines += [row for _, row in sorted(rows)]
        lines.append("")
        if short:
            below = "Not shown to deliver 99 %, by the lower end of the confidence interval"
            lines += [f"{below}: {', '.join(short)}.", ""]
        if unable:
            lines += [f"Without numbers: {', '.join(unable)}.", ""]
    return "\n".join(lines).rstrip()


def _known(table: pd.DataFrame, world: str, name: str) -> bool:
    metric = HEADLINE[name][0]
    return any(
        not np.isnan(ends(cost(table, world, system, metric))[0]) for system in systems_in(table, world)
    )


def _shown(table: pd.DataFrame, world: str, system: str, name: str) -> str:
    metric, form = HEADLINE[name]
    mean = ends(cost(table, world, system, metric))[0]
    if np.isnan(mean):
        return "—"
    text = form(mean)
    seeds = healed(table, world, system) if metric == "heal_cycles" else None
    return text if seeds is None or seeds[0] == seeds[1] else f"{text} ({seeds[0]} of {seeds[1]} seeds)"
