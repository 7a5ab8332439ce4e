"""View sizes and updates after a failure, against the depth (hpmcast, Sections 5.2.1 and 6.3).

Counted in the exact views of 4096 participants, R = 2, for every depth with a whole a, beside equations 18
and 33 to 36. The paper's minimum of the view size at l = ln n is that of R l n^(1/l), which leaves R a - a
out of equation 18; that one has its own minimum a little lower.

Equation 32 says that with R > e, and a of at least R, the depth ln n is never reached, so that every further
level makes views smaller. That the depth is below ln n follows from a > e and cannot fail; that views get
smaller with every level can, because equation 18 has its minimum lower, and is counted in every regular
hierarchy of four sizes for which R delegates can be found.
"""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Condensation, Population, Views, exact_knowledge
from hierarchy.hpmcast.analysis import (
    mean_level,
    mean_level_estimate,
    mean_updates,
    view_size,
)
from sims.figures.style import figure, legend_below, line, stated_line
from sims.reproduce.claims import Claim, observed, stated
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables

N, REDUNDANCY = 4096, 2
TREES = {1: 4096, 2: 64, 3: 16, 4: 8, 6: 4}  # levels: a
DEEPER = {  # participants: levels and a of its hierarchies
    729: {1: 729, 2: 27, 3: 9, 6: 3},
    1024: {1: 1024, 2: 32, 5: 4, 10: 2},
    4096: {**TREES, 12: 2},
    6561: {1: 6561, 2: 81, 4: 9, 8: 3},
}


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


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Count in real views what the equations say."""
    rows = []
    for k, (levels, a) in enumerate(TREES.items()):
        known = exact_knowledge(Population.regular(a, levels), Condensation(redundancy=REDUNDANCY)).views()
        rows.append(
            {
                "levels": levels, "a": a, "entries": _entries(known),
                "informed": _informed(known) if levels > 1 else float(N - 1),
                "level": float(known.top.mean()),
            }
        )  # fmt: skip
        progress(k + 1, len(TREES))
    return Measured(
        {"depths": pd.DataFrame(rows), "trees": _trees()},
        f"{N:,} participants, R = {REDUNDANCY}, every depth",
    )


def _trees() -> pd.DataFrame:
    """Entries counted in hierarchies of several sizes, with 2 to 4 delegates, wherever a is at least R."""
    rows = []
    for n, trees in DEEPER.items():
        for levels, a in trees.items():
            for redundancy in (2, 3, 4):
                if a >= redundancy:
                    population = Population.regular(a, levels)
                    known = exact_knowledge(population, Condensation(redundancy=redundancy)).views()
                    rows.append((n, redundancy, levels, a, _entries(known)))
    return pd.DataFrame(rows, columns=["n", "redundancy", "levels", "a", "entries"])


def _equations(depths: pd.DataFrame) -> pd.DataFrame:
    """What the equations give at the depths that were counted."""
    pairs = [(int(a), int(levels)) for a, levels in zip(depths.a, depths.levels, strict=True)]
    return depths.assign(
        equation_18=[float(view_size(a, levels, REDUNDANCY)) for a, levels in pairs],
        equation_35=[
            float(mean_updates(a, levels, REDUNDANCY)) if levels > 1 else N - 1.0 for a, levels in pairs
        ],
        equation_36=[mean_level(a, levels, REDUNDANCY) for a, levels in pairs],
        estimate=[mean_level_estimate(N, levels, REDUNDANCY) for _, levels in pairs],
    )


DEPTHS = np.linspace(1, 14, 261)


def judge(tables: Tables) -> list[Claim]:
    """Counted views beside equations 17, 18, 32 and 33 to 36."""
    table = _equations(tables["depths"])
    sizes = np.array([view_size(N ** (1 / depth), depth, REDUNDANCY) for depth in DEPTHS])
    least = float(DEPTHS[sizes.argmin()])
    derived = float(DEPTHS[np.argmin(REDUNDANCY * DEPTHS * N ** (1 / DEPTHS))])
    off = (table.entries - table.equation_18).abs().max()
    updates = (table.informed / table.equation_35 - 1).abs().max()
    level = (table.level - table.equation_36).abs().max()
    falls = {
        key: bool((np.diff(own.sort_values("levels").entries) < 0).all())
        for key, own in tables["trees"].groupby(["redundancy", "n"])
    }
    chosen = [fell for (redundancy, _), fell in falls.items() if redundancy > np.e]
    return [
        stated(
            "entries of all views are R a (l - 1) + a: largest difference over all depths",
            "hpmcast, Section 5.2.1, equations 17 and 18", 0.0, float(off), off == 0,
        ),
        observed(  # of the formulas alone: nothing that is measured could make it false
            "depth at which equation 18 is least",
            "hpmcast, Section 6.3.1: the view size is minimal at l = log n", round(least, 2),
            paper=round(log(N), 2), reading="m of equation 18",
        ),
        observed(
            "depth at which R l n^(1/l) is least",
            "hpmcast, Section 6.3.1, equations 30 and 31: the view size is minimal at l = log n",
            round(derived, 2), paper=round(log(N), 2), reading="m of equations 30 and 31, R l n^(1/l)",
        ),
        stated(
            f"with R = 3 and 4, hierarchies of {', '.join(f'{n:,}' for n in DEEPER)} in which every further "
            "level makes the counted views smaller",
            "hpmcast, equations 30 and 32: m decreases below l = log n, which with R > e is never reached",
            len(chosen), sum(chosen), bool(chosen) and all(chosen),
        ),
        observed(
            "the same with R = 2, below e",
            "hpmcast, equation 32 says nothing of R below e",
            sum(fell for (redundancy, _), fell in falls.items() if redundancy < np.e),
            paper="not stated",
        ),
        stated(
            "participants to be updated after a failure are (a - 1)(R (l - 1) + 1) on average: largest "
            "relative difference (below 0.01)",
            "hpmcast, Section 6.3.2, equation 35; the bound is ours", 0.0, round(float(updates), 4),
            updates < 0.01,
        ),
        stated(
            "the mean level is that of equation 36's sum, and rises with the depth: largest difference",
            "hpmcast, Section 6.3.2, equation 36", 0.0, round(float(level), 6),
            bool(level < 1e-9 and (np.diff(table.level) > 0).all()),
        ),
    ]  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Counted beside the equations, against the depth."""
    table = _equations(tables["depths"])
    sizes = [view_size(N ** (1 / depth), depth, REDUNDANCY) for depth in DEPTHS]
    fig, (left, right) = figure(columns=2, figsize=(10.5, 4.6))
    line(left, 0, DEPTHS, sizes, "view size, equation 18", marker="")
    line(left, 1, table.levels, table.entries, "view size, counted", linestyle="")
    line(left, 2, table.levels, table.informed, "to be updated, counted", linestyle="")
    left.plot(
        table.levels, table.equation_35, color="black", linewidth=0.9, label="to be updated, equation 35"
    )
    stated_line(left, "paper: least at ln n", x=log(N))
    left.set(yscale="log", xlabel="levels, l", ylabel="participants")
    line(right, 3, table.levels, table.level, "counted")
    line(right, 4, table.levels, table.equation_36, "equation 36, sum", marker="")
    line(right, 5, table.levels, table.estimate, "equation 36, estimate", marker="")
    right.set(xlabel="levels, l", ylabel="mean level of a participant", ylim=(0, None))
    for axes in (left, right):
        legend_below(axes, 2)
    return {"": fig}


register(
    "hpmcast-views",
    "View size, updates and mean level against the depth",
    measure=measure,
    judge=judge,
    draw=draw,
)
