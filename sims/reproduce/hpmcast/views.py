"""View sizes and updates after a failure, against the depth (hpmcast, Sections 5.2.1 and 6.3).

Counted in the exact views of 4096 participants, R = 2, for every depth with a whole a, beside equations 18
and 33 to 36. The paper's minimum of the view size at l = ln n is that of R l n^(1/l), which leaves R a - a
out of equation 18; that one has its own minimum a little lower.
"""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np

from hierarchy.hpmcast import Condensation, Population, Views, exact_knowledge
from hierarchy.hpmcast.analysis import (
    mean_level,
    mean_level_estimate,
    mean_updates,
    view_size,
)
from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment

__all__ = ["views"]

N, REDUNDANCY = 4096, 2
TREES = {1: 4096, 2: 64, 3: 16, 4: 8, 6: 4}  # levels: a


def _entries(views: Views) -> float:
    """Mean number of entries in all views of a participant."""
    sizes = np.diff(views.start)[views.row]
    return float(sizes.sum(axis=0).mean())


def _informed(views: Views) -> float:
    """Mean number of other participants that have a participant in one of their views."""
    n = views.row.shape[1]
    known = np.zeros(n)
    seen = np.zeros(n, np.int64)  # per reader: the last participant it was counted for
    readers = {int(row): np.flatnonzero(level == row) for level in views.row for row in np.unique(level)}
    rows = np.repeat(np.arange(len(views.start) - 1), np.diff(views.start))
    order = np.argsort(views.entry, kind="stable")
    bounds = np.searchsorted(views.entry[order], np.arange(n + 1))
    seen[:] = -1
    for x in range(n):
        for row in rows[order[bounds[x] : bounds[x + 1]]]:
            who = readers[int(row)]
            fresh = who[(seen[who] != x) & (who != x)]
            seen[fresh] = x
            known[x] += len(fresh)
    return float(known.mean())


@experiment("hpmcast-views", title="View size, updates and mean level against the depth")
def views(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Count in real views what the equations say."""
    measured: dict[str, list[float]] = {"entries": [], "informed": [], "level": []}
    for k, (levels, a) in enumerate(TREES.items()):
        known = exact_knowledge(Population.regular(a, levels), Condensation(redundancy=REDUNDANCY)).views()
        measured["entries"].append(_entries(known))
        measured["informed"].append(_informed(known) if levels > 1 else N - 1)
        measured["level"].append(float(known.top.mean()))
        progress(k + 1, len(TREES))
    depths = np.linspace(1, 14, 261)
    sizes = np.array([view_size(N ** (1 / depth), depth, REDUNDANCY) for depth in depths])
    updates = [mean_updates(a, levels, REDUNDANCY) if levels > 1 else N - 1 for levels, a in TREES.items()]
    means = [mean_level(a, levels, REDUNDANCY) for levels, a in TREES.items()]
    estimates = [mean_level_estimate(N, levels, REDUNDANCY) for levels in TREES]
    save_table(
        out,
        "depths",
        {
            "levels": list(TREES), "a": list(TREES.values()), **measured,
            "equation_18": [float(view_size(a, levels, REDUNDANCY)) for levels, a in TREES.items()],
            "equation_35": [float(value) for value in updates],
            "equation_36_sum": means, "equation_36_estimate": estimates,
        },
    )  # fmt: skip
    with styled():
        fig, panels = figure(columns=2)
        left, right = panels
        line(left, 0, depths, sizes, "view size, equation 18", marker="")
        line(left, 1, list(TREES), measured["entries"], "counted", linestyle="")
        line(left, 2, list(TREES), measured["informed"], "to be updated, counted", linestyle="")
        left.plot(list(TREES), updates, color="black", linewidth=0.9, label="equation 35")
        left.axvline(log(N), color="black", linewidth=0.8, linestyle=":")
        left.annotate("ln n", (log(N), 1500), xytext=(4, 0), textcoords="offset points", fontsize=9)
        left.set(yscale="log", xlabel="levels, l", ylabel="participants")
        left.legend()
        line(right, 0, list(TREES), measured["level"], "counted")
        line(right, 1, list(TREES), means, "equation 36, sum", marker="")
        line(right, 2, list(TREES), estimates, "equation 36, estimate", marker="")
        right.set(xlabel="levels, l", ylabel="mean level of a participant", ylim=(0, None))
        right.legend()
        fig.suptitle(f"n = {N}, R = {REDUNDANCY}", fontsize=11)
        save_figure(out, "hpmcast-views", fig)
    least = float(depths[sizes.argmin()])
    derived = float(depths[np.argmin(REDUNDANCY * depths * N ** (1 / depths))])
    off = np.abs(np.subtract(measured["entries"], [view_size(a, i, REDUNDANCY) for i, a in TREES.items()]))
    return [
        Claim(
            "hpmcast-views",
            "entries of all views are R a (l - 1) + a (equations 17, 18): largest difference, all depths",
            0.0,
            float(off.max()),
            bool(off.max() == 0),
        ),
        Claim(
            "hpmcast-views",
            "the view size is least at l = ln n: depth at which equation 18 is least, within 10 %",
            round(log(N), 2),
            round(least, 2),
            bool(abs(least / log(N) - 1) < 0.1),
        ),
        Claim(
            "hpmcast-views",
            "and R l n^(1/l), which the paper derives it from, is least there, within 1 %",
            round(log(N), 2),
            round(derived, 2),
            bool(abs(derived / log(N) - 1) < 0.01),
        ),
        Claim(
            "hpmcast-views",
            "participants to be updated after a failure: (a - 1)(R (l - 1) + 1) on average, within 1 %",
            [float(value) for value in updates],
            [round(value, 2) for value in measured["informed"]],
            bool(np.allclose(measured["informed"], updates, rtol=0.01)),
        ),
        Claim(
            "hpmcast-views",
            "the mean level rises with the depth and is that of equation 36's sum",
            [round(value, 4) for value in means],
            [round(value, 4) for value in measured["level"]],
            bool(np.allclose(measured["level"], means) and np.all(np.diff(measured["level"]) > 0)),
        ),
    ]
