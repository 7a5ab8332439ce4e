"""Figure 7a of Sub-2-Sub: how long rings are.

The length of a ring is the number of subscribers of its event, so it depends on the workload alone. The paper
gives no formulas for its distributions. Those of `workloads.spec.catalogue` were chosen to match the lengths
with three attributes, so these lengths are an observation: they test our choice, not the paper. The verdict
is whether the same widths give the lengths that the paper states for five attributes. They do not: most rings
have 2 or 3 subscribers, but not all (`benchmarks/ring_sizes.py` tries other readings). Lengths depend on the
number of subscribers, so the quick form has as many peers as the full one, and fewer seeds.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from sims.figures.style import figure, legend_beside, line, stated_line
from sims.reproduce.claims import Claims, observed, span, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked
from sims.reproduce.sub2sub.setting import Setting
from sub2sub.geometry.matching import match
from workloads import named

WORKLOADS = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
LONGEST, LONGEST_OF_FIVE = 246, 3  # the paper's, with 3 attributes and power law, and with 5
SIZE = 10_000


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Match test events with subscribers."""
    seeds = 2 if quick else 5
    frames = []
    for workload, s in tracked(product(WORKLOADS, range(seed, seed + seeds)), progress):
        spec = named(workload)
        lows, highs = spec.subscriptions(SIZE, s)
        lengths = match(lows, highs, spec.events(SIZE, s, lows, highs)).sizes()
        frames.append(pd.DataFrame({"workload": workload, "seed": s, "length": lengths}))
    return measurement(f"{SIZE:,} peers, {SIZE:,} events, {seeds} seeds", lengths=frames)


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
            f"{Setting(workload).title}: longest ring, over all seeds",
            "Sub-2-Sub, Section 5: with five attributes rings are trivially short, 2 to 3 subscribers",
            f"at most {LONGEST_OF_FIVE}", int(five.max().max()), five.max().max() <= LONGEST_OF_FIVE,
            interval=span(five.max()), reading="widths that give the paper's lengths with 3 attributes",
        )  # fmt: skip
        yield observed(
            f"{Setting(workload).title}: share of rings of 2 or 3 subscribers, mean of seeds",
            round(float(short.mean()), 4), source="Sub-2-Sub, Section 5: 2 to 3 subscribers", paper=1.0,
            interval=span(short),
        )  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Share of rings at least so long."""
    fig, axes = figure(figsize=(8.4, 4.2))
    for number, (workload, own) in enumerate(tables["lengths"].groupby("workload", sort=False)):
        for s, (_, lengths) in enumerate(own.groupby("seed").length):
            at, count = np.unique(lengths, return_counts=True)
            longer = 100 * (1 - (np.cumsum(count) - count) / len(lengths))
            label = "" if s else Setting(str(workload)).title
            look = {"markevery": 0.12} if not s else {"marker": "", "alpha": 0.4, "linewidth": 0.8}
            line(axes, number, at, longer, label, **look)
    stated_line(axes, "paper: longest with\n3, power law", x=LONGEST)
    stated_line(axes, "paper: longest\nwith 5", x=LONGEST_OF_FIVE)
    axes.set(
        xscale="log", yscale="log", xlabel="ring length (subscribers)", ylabel="rings at least that long (%)",
        ylim=(5e-3, 200),
    )  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_title("Ring lengths (thin: other seeds)", pad=28)
    legend_beside(axes)
    return {"": fig}


register("sub2sub-fig7a", "Distribution of ring lengths", measure, judge, draw)
