"""Figure 5 of Sub-2-Sub: how fast rings are built from nothing.

The paper shows four workloads and says that all rings are set up after 40 cycles. Its text mentions 3 and 5
attributes, uniform and power law; these are taken as the four. 1 and 2 attributes are reported beside them.
Everything is as published, with one exchange per layer and cycle.

The paper selects the partner of an exchange "among ring neighbours" without saying how, and this choice
determines the speed, so both readings are run. *Least recent*: the neighbour of the least recent exchange,
new ones first. *Random*: any neighbour. `sub2sub-choices` has other choices.

Without faults a peer never replaces its true neighbour, so a complete ring stays complete: a run ends when
all rings are complete, or after 90 cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from sims.reproduce.claims import Claims, in_words, observed, span, within
from sims.reproduce.reproduction import (
    Plan,
    Tables,
)
from sims.reproduce.sub2sub.setting import RINGS, begin, title_of
from workloads.charts.chart import Chart, Reference, Sheet, columns

STATED, MOST = 40, 90  # cycles: the paper's, and those after which a run is given up
LATER = f"more than {MOST}"
PAPER = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
OTHERS = ("uniform-1", "power-law-1", "uniform-2", "power-law-2")
PARTNERS = {"least recent partner": "least-recent", "random partner": "random"}
SOURCE = "Sub-2-Sub, Section 5 and Figure 5: after 40 cycles all rings are fully set up"


def built(
    name: str, reading: str, seed: int, size: int, most: int, changes: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The tables of a run from nothing until all rings are complete, of at most `most` cycles."""
    partner = {"layers.ring.partner": PARTNERS[reading]}
    simulation = begin(name, seed, size, size, partner | dict(changes))
    simulation.look()
    while simulation.tables["rings"][-1]["complete"] < 1.0 and simulation.cycle < most:
        simulation.step()
        simulation.look()
    return simulation.tables


def plan(quick: bool, seed: int) -> Plan:
    """The rings of eight workloads with either choice of partner."""
    size, seeds = (1_000, 3) if quick else (10_000, 3)
    settings = [
        {"reading": reading, "workload": workload, "seed": s}
        for workload in (*PAPER, *OTHERS)
        for reading in PARTNERS
        for s in range(seed, seed + (seeds if workload in PAPER else 1))
    ]
    scale = f"{size:,} peers, {size:,} events, {seeds} seeds (1 seed for 1 and 2 attributes)"
    return Plan(scale, unit, settings, {"size": size}, "rings")


def unit(reading: str, workload: str, seed: int, size: int) -> pd.DataFrame:
    """One run: a row per cycle."""
    tables = built("sub2sub-fig5", reading, seed, size, MOST, {"workload.spec": workload, **RINGS})
    return pd.DataFrame(tables["rings"])[["cycle", "links", "complete"]]


def completed(rings: pd.DataFrame) -> float:
    """The cycle at which all rings of one run are complete; infinite if they are not."""
    done = rings.cycle[rings.complete == 1.0]
    return float(done.min()) if len(done) else float("inf")


def _cycles(rings: pd.DataFrame, reading: str, workload: str) -> list[float]:
    mine = rings[(rings.reading == reading) & (rings.workload == workload)]
    return [completed(own) for _, own in mine.groupby("seed")]


def judge(tables: Tables) -> Claims:
    """Per workload and reading, whether the slowest seed needs at most 40 cycles."""
    rings = tables["rings"]
    for reading in PARTNERS:
        for workload in PAPER:
            cycles = _cycles(rings, reading, workload)
            text = f"{title_of(workload)}: cycles until all rings are complete, slowest seed"
            yield within(text, cycles, STATED, source=SOURCE, reading=reading, never=LATER)
        others = {title_of(name): max(_cycles(rings, reading, name)) for name in OTHERS}
        yield observed(
            "1 and 2 attributes, uniform and power law: cycles until all rings are complete",
            {title: in_words(cycles, LATER) for title, cycles in others.items()}, source=SOURCE,
            paper=f"at most {STATED}, if they are among the paper's four", reading=reading,
        )  # fmt: skip
        at = rings[(rings.reading == reading) & rings.workload.isin(PAPER) & (rings.cycle <= STATED)]
        shares = at.sort_values("cycle").groupby(["workload", "seed"]).complete.last()
        yield observed(
            f"share of complete rings at cycle {STATED}, by workload, worst seed",
            shares.groupby("workload").min().round(5).to_dict(), source=SOURCE, paper=1.0,
            interval=span(shares, 5), reading=reading,
        )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Links in place and complete rings per cycle; a column per workload of the paper, a row per reading."""
    rings, found = tables["rings"], []
    labels = {"links": "ring links in place", "complete": "complete rings"}
    for reading, workload in product(PARTNERS, PAPER):
        mine = rings[(rings.reading == reading) & (rings.workload == workload)]
        series = columns(extended(mine), "cycle", labels, over="seeds", times=100)
        slowest = max(_cycles(rings, reading, workload))
        end = f"all: {slowest:.0f}" if np.isfinite(slowest) else f"not by {MOST}"
        stated = (Reference("paper: all by 40", x=STATED), Reference(end, x=min(slowest, MOST)))
        title = f"{title_of(workload)}: {reading}"
        found.append(Chart(title, "cycle", "%", series, bottom=-3, top=104, references=stated))
    return Sheet(found, columns=4)


def extended(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of several seeds up to the end of the longest: one that has ended stays as it is."""
    cycles = pd.RangeIndex(int(runs.cycle.max()) + 1, name="cycle")
    longer = [own.set_index("cycle").reindex(cycles).ffill() for _, own in runs.groupby("seed")]
    return pd.concat(longer).reset_index()


REPRODUCTIONS = {"sub2sub-fig5": (plan, judge, charts)}
