"""Figure 9 of hpmcast: expected rounds against the fraction of interested participants, n = 100, F = 2.

The figure is equation 9 with c = 0 (its axis says fanout and means rounds): a peak, 0 at p n = 1, far below
zero beyond. Runs cannot change this, so the curve is an observation; its depth depends on where it is cut.
The verdicts are about the paper's statements on gossip: that fewer interested participants need more rounds
at first, and that the equation is less accurate towards p n = 1. For these, pmcast has rounds enough, and the
round is measured in which the last interested participant receives the event.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import expected_rounds
from sims.reproduce.claims import Claims, intervals, observed, rounded, stated
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from workloads.charts.chart import Chart, Reference, Series, Sheet, curves
from workloads.statistics.intervals import below

N, FANOUT, DEEPEST = 100, 2, -120
INTERESTED = (2, 3, 5, 10, 20, 50, 80, 100)
ENOUGH = 400  # rounds
FIRST, HALF = 0.05, 0.5  # "first increase" ends at the equation's peak; "towards p n = 1" is below a half
SOURCE = "hpmcast, Section 5.3.1 and Figure 9:"


def plan(quick: bool, seed: int) -> Plan:
    """Run pmcast until all interested participants have the event."""
    runs = 300 if quick else 1000
    scale = f"n = {N}, F = {FANOUT}, {runs} events for each p"
    return Plan(scale, unit, grid(interested=INTERESTED), {"runs": runs, "seed": seed}, "needed")


def unit(interested: int, runs: int, seed: int) -> pd.DataFrame:
    """A row per event."""
    needed, equation = _needed(interested, runs, seed), expected_rounds(interested, FANOUT * interested / N)
    own = {"p": interested / N, "run": np.arange(runs), "needed": needed, "equation": equation}
    return pd.DataFrame(own)


def curve() -> pd.DataFrame:
    """Equation 9 by p."""
    fractions = np.unique(np.concatenate([np.linspace(0.0055, 0.1, 190), np.linspace(0.1, 1, 181)]))
    return pd.DataFrame({"p": fractions, "rounds": [expected_rounds(N * p, FANOUT * p) for p in fractions]})


def _needed(interested: int, runs: int, seed: int) -> NDArray[np.float64]:
    """Rounds until the last of a number of interested participants has the event, one of them publishing."""
    population, views = hierarchy(N, 1, 1)
    gossip = Gossip(FANOUT, constant=float(ENOUGH))
    rounds = np.empty(runs)
    for run in range(runs):
        wanted = np.zeros(N, np.uint8)
        chosen = np.random.Generator(np.random.Philox(key=[seed, run])).permutation(N)[:interested]
        wanted[chosen] = 1
        hit = spread_interest(population, wanted)
        first = disseminate(views, hit, int(chosen[0]), gossip, seed=seed, event=run).trace.first[chosen]
        rounds[run] = first.max() if (first >= 0).all() else ENOUGH
    return rounds


def judge(tables: Tables) -> Claims:
    """What gossip needs beside the equation, and the shape of its curve."""
    table, needed = curve(), tables["needed"]
    by = needed.groupby("p")
    mean, equation = by.needed.mean(), by.equation.mean()
    off = ((equation - mean) / mean).abs()
    few, many = off[off.index < HALF].min(), off[off.index >= HALF].max()
    rising = table[table.p < float(table.p[table.rounds.idxmax()])]
    zero = float(np.interp(0.0, rising.rounds, rising.p)) if len(rising) else float("nan")
    yield stated(
        f"rounds until everybody interested has the event, by p: more at every lower p down to {FIRST}, "
        "beyond chance", f"{SOURCE} rounds first increase with a decreasing p", "more",
        rounded(mean, 2, "p = {:g}"),
        all(below(more, fewer) for fewer, more in pairwise(own for p, own in by.needed if p >= FIRST)),
        interval=intervals(by.needed, 2, "p = {:g}"),
    )  # fmt: skip
    yield stated(
        f"share by which the equation is off: least for p below {HALF}, greatest above (more below)",
        f"{SOURCE} the asymptote is less accurate towards p n = 1", "more below",
        rounded({f"p below {HALF}": few, f"p of {HALF} and above": many}, 3), bool(few > many),
    )  # fmt: skip
    yield observed(
        "the equation's peak, the p n at which it is 0, and its value at p = 0.0055",
        {
            "peak": round(float(table.rounds.max()), 2), "0 at p n": round(N * zero, 3),
            "least": round(float(table.rounds.min()), 1),
        }, source=SOURCE, paper={"0 at p n": 1, "least": DEEPEST},
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """The curve, and what gossip needs."""
    table = curve()
    series = [Series(f"equation 9, n = {N}, F = {FANOUT}", table.p, table.rounds, style="plain")]
    how: dict[str, Any] = {"label": "needed by pmcast, simulated", "shape": "points", "first": 1}
    series += curves(tables["needed"], "p", "needed", **how)
    stated = [Reference("paper: 0 at p n = 1", x=1 / N), Reference("", y=0)]
    labels = "fraction of interested participants", "rounds"
    return Sheet([Chart("", *labels, series, bottom=DEEPEST - 5, top=75, references=stated)])


REPRODUCTIONS = {"hpmcast-fig9": (plan, judge, charts)}
