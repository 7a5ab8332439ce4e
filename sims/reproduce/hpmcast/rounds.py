"""Figure 9 of hpmcast: expected rounds against the fraction of interested participants, n = 100, F = 2.

The figure is equation 9 with c = 0 (its axis says fanout and means rounds): a peak, 0 at p n = 1, far below
zero beyond. Runs cannot change this, so the curve is an observation; its depth depends on where it is cut.
The verdicts are about the paper's statements on gossip: that fewer interested participants need more rounds
at first, and that the equation is less accurate towards p n = 1. For these, pmcast has rounds enough, and the
round is measured in which the last interested participant receives the event.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import expected_rounds
from sims.reproduce.claims import Claims, claim, means, rounded
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Series, curves
from workloads.statistics.intervals import below

N, FANOUT = 100, 2
ENOUGH = 400  # rounds
FIRST, HALF = 0.05, 0.5  # "first increase" ends at the equation's peak; "towards p n = 1" is below a half


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
    table, by = curve(), tables["needed"].groupby("p")
    mean = by.needed.mean()
    off = ((by.equation.mean() - mean) / mean).abs()
    few, many = float(off[off.index < HALF].min()), float(off[off.index >= HALF].max())
    rising = table[table.p < float(table.p[table.rounds.idxmax()])]
    zero = float(np.interp(0.0, rising.rounds, rising.p)) if len(rising) else float("nan")
    falls = all(below(more, fewer) for fewer, more in pairwise(own for p, own in by.needed if p >= FIRST))
    peak, least = float(table.rounds.max()), float(table.rounds.min())
    found = {"peak": round(peak, 2), "0 at p n": round(N * zero, 3), "least": round(least, 1)}
    yield means("more", by.needed, falls, digits=2, name="p = {:g}")
    yield claim("off", rounded({f"p below {HALF}": few, f"p of {HALF} and above": many}, 3), few > many)
    yield claim("curve", found)


def with_equation(needed: pd.DataFrame) -> list[Series]:
    """The curve, and what gossip needs."""
    table, label = curve(), "needed by pmcast, simulated"
    series = Series(f"equation 9, n = {N}, F = {FANOUT}", table.p, table.rounds, style="plain")
    return [series, *curves(needed, "p", "needed", label=label, shape="points", first=1)]
