"""The table for a README: one line for each system that delivers, the fewest messages first."""

from __future__ import annotations

import pandas as pd

from sims.compare.plan import Plan
from sims.compare.summary import healed, value, working_point

# What a column shows: a metric, whether it is of the overlay and not of a working point, and how to write it.
COLUMNS = {
    "messages per delivery": ("messages_per_delivery", False, "{:.2f}"),
    "spam per delivery": ("spam_per_delivery", False, "{:.2f}"),
    "bytes per delivery": ("bytes_per_delivery", False, "{:,.0f}"),
    "hops to the last": ("hops_to_last_match", False, "{:.1f}"),
    "ms to the last, median": ("last_ms_median", False, "{:,.0f}"),
    "ms, 99 %": ("last_ms_p99", False, "{:,.0f}"),
    "links": ("links.mean", True, "{:.0f}"),
    "memory bytes": ("memory_bytes.mean", True, "{:,.0f}"),
    "upkeep messages": ("upkeep_messages.mean", True, "{:.1f}"),
    "of the busiest": ("upkeep_messages.max", True, "{:.0f}"),
    "cycles to heal": ("heal_cycles", True, "{:.0f}"),
}


def headline(table: pd.DataFrame, plan: Plan) -> str:
    """A Markdown table for each world but the family between, and what the numbers are."""
    lines = [
        f"{plan.subscribers:,} subscribers, {plan.seeds} seeds; each system at the cheapest of its settings "
        "that delivers 99 % with 5 % of the messages lost, without faults. Upkeep per peer and cycle.",
        "",
    ]
    for world in (world for world in plan.worlds if not world.startswith("between")):
        columns = [name for name in COLUMNS if _known(table, world, name)]
        lines += [f"**{world}**", "", f"| system | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
        rows, short, unable = [], [], []
        for system in (str(name) for name in table[table.world == world].system.unique()):
            point = working_point(table, world, system)
            if point is None:
                reason = value(table, world, system, "unable")
                unable += [] if reason is None else [f"{system} ({reason.note})"]
                continue
            if not point.reached:
                short.append(f"{system} {point.hit:.3f}")
                continue
            shown = [_shown(table, world, system, point.knob, name) for name in columns]
            cost = value(table, world, system, "messages_per_delivery", point.knob)
            rows.append((0.0 if cost is None else float(cost["mean"]), f"| {system} | {' | '.join(shown)} |"))
        lines += [row for _, row in sorted(rows)]
        lines.append("")
        if short:
            below = "Not shown to deliver 99 %, by the lower end of the confidence interval"
            lines += [f"{below}: {', '.join(short)}.", ""]
        if unable:
            lines += [f"Without numbers: {', '.join(unable)}.", ""]
    return "\n".join(lines).rstrip()


def _known(table: pd.DataFrame, world: str, name: str) -> bool:
    here = table[(table.world == world) & (table.metric == COLUMNS[name][0])]
    return bool(here["mean"].notna().any())


def _shown(table: pd.DataFrame, world: str, system: str, knob: str, name: str) -> str:
    metric, built, form = COLUMNS[name]
    cell = value(table, world, system, metric, "" if built else knob)
    if cell is None or pd.isna(cell["mean"]):
        return "—"
    text = form.format(cell["mean"])
    seeds = healed(table, world, system) if metric == "heal_cycles" else None
    return text if seeds is None or seeds[0] == seeds[1] else f"{text} ({seeds[0]} of {seeds[1]} seeds)"
