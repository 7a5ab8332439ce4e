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
from sims.figures.style import COLOURS, figure, legend_above, line, stated_line
from sims.reproduce.claims import Claims, below, intervals, observed, rounded, stated
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, register, tracked

N, FANOUT, DEEPEST = 100, 2, -120
INTERESTED = (2, 3, 5, 10, 20, 50, 80, 100)
ENOUGH = 400  # rounds
FIRST, HALF = 0.05, 0.5  # "first increase" ends at the equation's peak; "towards p n = 1" is below a half
SOURCE = "hpmcast, Section 5.3.1 and Figure 9:"


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Evaluate equation 9, and run pmcast until all interested participants have the event."""
    fractions = np.unique(np.concatenate([np.linspace(0.0055, 0.1, 190), np.linspace(0.1, 1, 181)]))
    rounds = np.array([expected_rounds(N * p, FANOUT * p) for p in fractions])
    runs = 300 if quick else 1000
    rows = []
    for interested in tracked(INTERESTED, progress):
        needed = _needed(interested, runs, seed)
        own = pd.DataFrame({"p": interested / N, "run": np.arange(runs), "needed": needed})
        rows.append(own.assign(equation=expected_rounds(interested, FANOUT * interested / N)))
    scale = f"n = {N}, F = {FANOUT}, {runs} events for each p"
    return measurement(scale, rounds=pd.DataFrame({"p": fractions, "rounds": rounds}), needed=rows)


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
    table, needed = tables["rounds"].sort_values("p"), tables["needed"]
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


def draw(tables: Tables) -> Figures:
    """The curve, and what gossip needs."""
    table, by = tables["rounds"], tables["needed"].groupby("p").needed
    fig, axes = figure()
    line(axes, 0, table.p, table.rounds, f"equation 9, n = {N}, F = {FANOUT}", marker="")
    line(axes, 1, by.mean().index, by.mean(), "needed by pmcast, simulated", linestyle="")
    axes.errorbar(by.mean().index, by.mean(), 1.96 * by.sem(), fmt="none", color=COLOURS[1], capsize=2)
    axes.axhline(0, color="black", linewidth=0.8)
    stated_line(axes, "paper: 0 at p n = 1", x=1 / N)
    axes.set(xlabel="fraction of interested participants", ylabel="rounds", ylim=(DEEPEST - 5, 75))
    return {"": legend_above(fig, axes, 2)}


register(
    "hpmcast-fig9", "Expected rounds against the fraction of interested participants", measure, judge, draw
)
