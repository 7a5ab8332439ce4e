"""What Sub-2-Sub leaves open about building rings, and how much it matters: one choice changed at a time.

3 attributes, power law, as published except for the choice. None of this is a statement of the paper. That a
capped ring view leaves rings open for ever is this project's finding, and can fail.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from sims.reproduce.claims import OURS, Claims, observed, span, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sims.reproduce.sub2sub.setting import RINGS, begin
from workloads.charts.chart import Chart, Reference, Sheet, curves

BASE, CAPPED = "as published (least recent partner, random ties)", "ring view capped at 20"


VARIANTS: dict[str, dict[str, Any]] = {
    BASE: {},
    "partner: random": {"layers.ring.partner": "random"},
    "partner: nearest ID": {"layers.ring.partner": "nearest"},
    "ties: first come": {"layers.vicinity.tie": "keep"},
    "ties: nearest ID": {"layers.vicinity.tie": "sequence"},
    "one-sided exchange": {"layers.ring.two_sided": False},
    "two exchanges a cycle": {"layers.ring.exchanges": 2},
    CAPPED: {"layers.ring.cap": 20},
    "with hello (default)": {"layers.ring.hello": True},
    "with hello to those that last 6 cycles": {"layers.ring.hello": True, "layers.ring.hello_after": 6},
}


def plan(quick: bool, seed: int) -> Plan:
    """The same rings with one choice changed at a time."""
    size, cycles, seeds = (1_000, 30, 2) if quick else (10_000, 60, 2)
    settings = grid(seed=range(seed, seed + seeds), variant=VARIANTS)
    scale = f"{size:,} peers, {size:,} events, {seeds} seeds"
    return Plan(scale, unit, settings, {"size": size, "cycles": cycles}, "choices")


def unit(seed: int, variant: str, size: int, cycles: int) -> pd.DataFrame:
    """One run: a row per cycle."""
    simulation = begin("sub2sub-fig5", seed, size, size, {**VARIANTS[variant], **RINGS})
    simulation.run(cycles)
    return pd.DataFrame(simulation.tables["rings"])[["cycle", "links", "complete"]]


def judge(tables: Tables) -> Claims:
    """Complete rings at the end, by variant."""
    table = tables["choices"]
    final = table[table.cycle == table.cycle.max()].groupby("variant", sort=False).complete
    cycles = int(table.cycle.max())
    capped, base = final.get_group(CAPPED), final.get_group(BASE)
    yield stated(
        f"ring views cannot be capped: complete rings after {cycles} cycles with at most 20 links, best "
        "seed, and as published, worst seed (less than half as many)", OURS, "far fewer",
        {"capped": round(float(capped.max()), 4), "as published": round(float(base.min()), 4)},
        capped.max() < base.min() / 2, interval={"capped": span(capped), "as published": span(base)},
    )  # fmt: skip
    for name, values in final:
        yield observed(
            f"{name}: complete rings after {cycles} cycles, mean of seeds", round(float(values.mean()), 4),
            interval=span(values),
        )  # fmt: skip
    whole = table[table.complete >= 0.99].groupby(["variant", "seed"], sort=False).cycle.min()
    for name, first in whole.groupby("variant", sort=False):
        yield observed(
            f"{name}: cycles until 99 % of the rings are complete, mean of seeds", float(first.mean()),
            interval=span(first),
        )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Complete rings per cycle, a curve per variant."""
    series = curves(tables["choices"], "cycle", "complete", "variant", over="seeds", times=100)
    stated = [Reference("paper: all by 40", x=40)]
    title = "3 attributes, power law"
    return Sheet([Chart(title, "cycle", "complete rings (%)", series, bottom=-3, top=104, references=stated)])


REPRODUCTIONS = {"sub2sub-choices": (plan, judge, charts)}
