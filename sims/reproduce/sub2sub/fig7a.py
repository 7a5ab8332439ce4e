"""Figure 7a of Sub-2-Sub: how long rings are.

The length of a ring is the number of subscribers of its event, so it depends on the workload alone. The paper
gives no formulas for its distributions. Those of `workloads.spec.catalogue` were chosen to match the lengths
with three attributes, so these lengths are an observation: they test our choice, not the paper. The verdict
is whether the same widths give the lengths that the paper states for five attributes. They do not: most rings
have 2 or 3 subscribers, but not all (`benchmarks/ring_sizes.py` tries other readings). Lengths depend on the
number of subscribers, so the quick form has as many peers as the full one, and fewer seeds.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, observed, span, stated
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sims.reproduce.sub2sub.setting import title_of
from sub2sub.geometry.matching import match
from workloads import named
from workloads.charts.chart import Chart, Reference, Series, Sheet

WORKLOADS = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
LONGEST, LONGEST_OF_FIVE = 246, 3  # the paper's, with 3 attributes and power law, and with 5
SIZE = 10_000


def plan(quick: bool, seed: int) -> Plan:
    """Match test events with subscribers."""
    seeds = 2 if quick else 5
    settings = grid(workload=WORKLOADS, seed=range(seed, seed + seeds))
    return Plan(f"{SIZE:,} peers, {SIZE:,} events, {seeds} seeds", unit, settings, table="lengths")


def unit(workload: str, seed: int) -> pd.DataFrame:
    """The length of the ring of each event."""
    spec = named(workload)
    lows, highs = spec.subscriptions(SIZE, seed)
    return pd.DataFrame({"length": match(lows, highs, spec.events(SIZE, seed, lows, highs)).sizes()})


def judge(tables: Tables) -> Claims:
    """Shortest and longest rings."""
    table = tables["lengths"]
    by = {name: own.groupby("seed").length for name, own in table.groupby("workload")}
    three = by["power-law-3"]
    yield observed(
        "3 attributes, power law: shortest and longest ring, mean of seeds (our widths were chosen for this)",
        {"shortest": float(three.min().mean()), "longest": round(float(three.max().mean()), 1)},
        source="Sub-2-Sub, Section 5: 2 to 246 subscribers", paper={"shortest": 2, "longest": LONGEST},
        interval={"longest": span(three.max())},
    )  # fmt: skip
    for workload in ("uniform-5", "power-law-5"):
        five = by[workload]
        short = five.apply(lambda lengths: float((lengths <= LONGEST_OF_FIVE).mean()))
        yield stated(
            f"{title_of(workload)}: longest ring, over all seeds",
            "Sub-2-Sub, Section 5: with five attributes rings are trivially short, 2 to 3 subscribers",
            f"at most {LONGEST_OF_FIVE}", int(five.max().max()), five.max().max() <= LONGEST_OF_FIVE,
            interval=span(five.max()), reading="widths that give the paper's lengths with 3 attributes",
        )  # fmt: skip
        yield observed(
            f"{title_of(workload)}: share of rings of 2 or 3 subscribers, mean of seeds",
            round(float(short.mean()), 4), source="Sub-2-Sub, Section 5: 2 to 3 subscribers", paper=1.0,
            interval=span(short),
        )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Share of rings at least so long."""
    series = []
    for number, (workload, own) in enumerate(tables["lengths"].groupby("workload", sort=False)):
        for s, (_, lengths) in enumerate(own.groupby("seed").length):
            at, count = np.unique(lengths, return_counts=True)
            longer = 100 * (1 - (np.cumsum(count) - count) / len(lengths))
            label = "" if s else title_of(str(workload))
            series.append(Series(label, at, longer, look=number, style="thin" if s else ""))
    stated = [
        Reference("paper: longest with 3, power law", x=LONGEST),
        Reference("paper: longest with 5", x=LONGEST_OF_FIVE),
    ]
    labels = "ring length (subscribers)", "rings at least that long (%)"
    chart = Chart(
        "Ring lengths (thin: other seeds)", *labels, series, log_x=True, log_y=True, references=stated
    )
    return Sheet([chart])


REPRODUCTIONS = {"sub2sub-fig7a": (plan, judge, charts)}
