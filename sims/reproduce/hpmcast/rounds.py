"""Figure 9 of hpmcast: expected rounds against the fraction of interested participants, n = 100, F = 2.

Equation 9 alone, with c = 0; the plot's axis says fanout and means rounds. That the rounds are 0 at p n = 1
is in the equation and cannot come out otherwise, so it is an observation; what the plot shows beyond that is
judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hierarchy.hpmcast.analysis import expected_rounds
from sims.figures.style import figure, legend_above, line, stated_line
from sims.reproduce.claims import Claim, observed, stated
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Measured, Progress, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["judge"]

N, FANOUT, DEEPEST = 100, 2, -120
SOURCE = "hpmcast, Section 5.3.1 and Figure 9:"


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Evaluate equation 9."""
    fractions = np.unique(np.concatenate([np.linspace(0.0055, 0.1, 190), np.linspace(0.1, 1, 181)]))
    rounds = np.array([expected_rounds(N * p, FANOUT * p) for p in fractions])
    progress(1, 1)
    return Measured(
        {"rounds": pd.DataFrame({"p": fractions, "rounds": rounds})}, f"an equation, n = {N}, F = {FANOUT}"
    )


def judge(tables: Tables) -> list[Claim]:
    """The shape of the curve."""
    table = tables["rounds"].sort_values("p")
    peak = float(table.p[table.rounds.idxmax()])
    above, below = table[table.p >= peak], table[table.p < peak]
    zero = float(np.interp(0.0, below.rounds, below.p)) if len(below) else float("nan")
    return [
        stated(
            "as p falls from 1 the rounds first rise, all the way to a peak: rounds at p = 1, at the peak, "
            "and its p",
            f"{SOURCE} rounds first increase with a decreasing p", "a rise",
            {
                "at p = 1": round(float(table.rounds.iloc[-1]), 2),
                "at the peak": round(float(table.rounds.max()), 2), "p of the peak": round(peak, 3),
            },
            bool((np.diff(above.rounds) < 0).all() and peak < 1),
        ),
        stated(
            f"they fall steeply below zero: least rounds of the curve (below {DEEPEST} + 20, as the plot's "
            "axis)",
            f"{SOURCE} the axis goes down to -120; the bound is ours", DEEPEST,
            round(float(table.rounds.min()), 1),
            table.rounds.min() < DEEPEST + 20,
        ),
        observed(
            "the p n at which the rounds are 0 (1 by the equation)", f"{SOURCE} 0 in p n = 1", round(N * zero,
            3),
            paper=1.0,
        ),
    ]  # fmt: skip


def draw(tables: Tables) -> Mapping[str, Figure]:
    """The curve."""
    table = tables["rounds"]
    fig, axes = figure()
    line(axes, 0, table.p, table.rounds, f"equation 9, n = {N}, F = {FANOUT}", marker="")
    axes.axhline(0, color="black", linewidth=0.8)
    stated_line(axes, "paper: 0 at p n = 1", x=1 / N)
    axes.set(xlabel="fraction of interested participants", ylabel="expected rounds", ylim=(DEEPEST - 5, 45))
    legend_above(fig, axes, 1)
    return {"": fig}


register(
    "hpmcast-fig9", "Expected rounds against the fraction of interested participants",
    measure=measure, judge=judge, draw=draw,
)  # fmt: skip
