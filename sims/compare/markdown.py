"""A comparison as a short table in Markdown, for a README."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from sims.compare.plan import Plan
from sims.compare.summary import (
    cost,
    ends,
    healed,
    is_between,
    percent,
    rule_of,
    shown,
    systems_in,
    value,
    working_point,
)

# The metric of each column, and how it is written.
HEADLINE: dict[str, tuple[str, Callable[[float], str]]] = {
    "copies per delivery": ("copies_per_delivery", "{:.2f}".format),
    "control messages": ("control_per_delivery", "{:.2f}".format),
    "bytes": ("bytes_per_delivery", "{:,.0f}".format),
    "spam": ("spam_per_delivery", "{:.2f}".format),
    "ms to the last, median": ("last_ms_median", "{:,.0f}".format),
    "ms, 99 %": ("last_ms_p99", "{:,.0f}".format),
    "% complete": ("complete", percent),
    "links": ("links.mean", "{:.0f}".format),
    "memory bytes": ("memory_bytes.mean", "{:,.0f}".format),
    "upkeep bytes": ("upkeep_bytes.mean", "{:,.0f}".format),
    "stream: ms, median": ("stream_ms_median", "{:,.0f}".format),
    "stream: ms, 99 %": ("stream_ms_p99", "{:,.0f}".format),
    "goodput, kB/s": ("goodput", "{:,.0f}".format),
    "uplink full at, events/s": ("full_rate", "{:,.0f}".format),
    "cycles to heal": ("heal_cycles", "{:.0f}".format),
}


def headline(table: pd.DataFrame, plan: Plan) -> str:
    """A table for each world but those between topics and ranges, with an explanation."""
    rule = rule_of(table)
    lines = [
        f"{plan.subscribers:,} subscribers, {plan.seeds} seeds; each system at the cheapest (bytes) of its "
        f"settings that deliver {rule}, and as it is by default. Costs per delivery with {rule.faults[0]}; "
        "nothing is repaired after crashes. Upkeep per peer and cycle. No system can do with fewer than "
        f"{rule.least_copies:.2f} copies.",
        "",
    ]
    for world in (world for world in plan.worlds if not is_between(world)):
        columns = [name for name in HEADLINE if _known(table, world, name)]
        heads = [f"% {fault}" for fault in rule.faults] + columns
        lines += [
            f"**{world}**",
            "",
            f"| system | setting | {' | '.join(heads)} |",
            "|---|---|" + "---:|" * len(heads),
        ]
        rows, short, unable = [], [], []
        for system, knob, point in shown(table, world):
            if not knob:
                reason = value(table, world, system, "unable")
                unable += [] if reason is None else [f"{system} ({reason.note})"]
                continue
            if point is not None and not point.reached:
                short.append(f"{system} ({point.why})")
            texts = [
                *(
                    percent(ends(cost(table, world, system, "hit_ratio", knob, fault))[0])
                    for fault in rule.faults
                ),
                *(_text(table, world, system, knob, name) for name in columns),
            ]
            least = ends(cost(table, world, system, rule.cost))[0]
            chosen = working_point(table, world, system)
            order = (chosen is None or not chosen.reached, float(np.nan_to_num(least)), point is None)
            named = system if point is None or point.reached else f"({system})"
            rows.append((order, f"| {named} | {knob} | {' | '.join(texts)} |"))
        lines += [*(row for _, row in sorted(rows)), ""]
        if short:
            lines += [f"In brackets, not shown to deliver that: {', '.join(short)}.", ""]
        if unable:
            lines += [f"Without numbers: {', '.join(unable)}.", ""]
    return "\n".join(lines).rstrip()


def _known(table: pd.DataFrame, world: str, name: str) -> bool:
    metric = HEADLINE[name][0]
    return any(
        not np.isnan(ends(cost(table, world, system, metric))[0]) for system in systems_in(table, world)
    )


def _text(table: pd.DataFrame, world: str, system: str, knob: str, name: str) -> str:
    metric, form = HEADLINE[name]
    mean = ends(cost(table, world, system, metric, knob))[0]
    if np.isnan(mean):
        return "—"
    seeds = healed(table, world, system) if metric == "heal_cycles" else None
    return (
        form(mean)
        if seeds is None or seeds[0] == seeds[1]
        else f"{form(mean)} ({seeds[0]} of {seeds[1]} seeds)"
    )
