"""Figure 9 of hpmcast: expected rounds against the fraction of interested participants, n = 100, F = 2.

Equation 9 alone, with c = 0; the plot's axis says fanout and means rounds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hierarchy.hpmcast.analysis import expected_rounds
from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment

__all__ = ["fig9"]

N, FANOUT = 100, 2


@experiment("hpmcast-fig9", title="Expected rounds against the fraction of interested participants")
def fig9(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Evaluate equation 9."""
    fractions = np.unique(np.concatenate([np.linspace(0.0055, 0.1, 190), np.linspace(0.1, 1, 181)]))
    rounds = np.array([expected_rounds(N * p, FANOUT * p) for p in fractions])
    save_table(out, "rounds", {"p": fractions, "rounds": rounds})
    with styled():
        fig, axes = figure()
        line(axes, 0, fractions, rounds, f"equation 9, n = {N}, F = {FANOUT}", marker="")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.axvline(1 / N, color="black", linewidth=0.8, linestyle=":")
        axes.annotate("p n = 1", (1 / N, -60), xytext=(8, 0), textcoords="offset points", fontsize=9)
        axes.set(xlabel="fraction of interested participants", ylabel="expected rounds", ylim=(-125, 45))
        axes.legend(loc="lower right")
        save_figure(out, "hpmcast-fig9", fig)
    progress(1, 1)
    peak = fractions[rounds.argmax()]
    zero = float(np.interp(0.0, rounds[fractions < peak], fractions[fractions < peak]))
    rising = np.diff(rounds[fractions >= peak])
    return [
        Claim(
            "hpmcast-fig9",
            "as p falls from 1 the rounds first rise: rounds at p = 1, and at most",
            "a rise",
            {"p = 1": round(float(rounds[-1]), 2), f"p = {peak:.3f}": round(float(rounds.max()), 2)},
            bool((rising < 0).all() and peak < 1),
        ),
        Claim(
            "hpmcast-fig9",
            "then they fall and become 0 at p n = 1: the p n at which they do",
            1.0,
            round(N * zero, 3),
            bool(abs(N * zero - 1) < 0.01),
        ),
        Claim(
            "hpmcast-fig9",
            "and far below 0 under it: rounds at p n = 0.55",
            "down to about -120",
            round(float(rounds[0]), 1),
            bool(rounds[0] < -100),
        ),
    ]
