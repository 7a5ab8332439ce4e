"""View sizes and updates after a failure, against the depth (hpmcast, Sections 5.2.1 and 6.3).

Counted in the exact views of 4096 participants, R = 2, for every depth with a whole a, beside equations 18
and 33 to 36. The paper's minimum of the view size at l = ln n is that of R l n^(1/l), which lacks the term R
a - a of equation 18; the minimum of equation 18 is at a slightly lower depth.

Equation 32 says that with R > e, and a of at least R, the depth ln n is never reached, so that every further
level makes views smaller. That the depth is below ln n follows from a > e and cannot fail. That views get
smaller with every level can fail, because equation 18 has its minimum at a lower depth; it is counted in
every regular hierarchy of four sizes with at least R delegates.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import Views
from hierarchy.hpmcast.analysis import mean_level, mean_level_estimate, mean_updates, view_size
from sims.reproduce.claims import Claims, claim
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Series

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
    known = np.zeros((n, n), bool)  # whether a reader has a participant in one of its views
    for level in views.row:
        for row in np.unique(level):
            entries = views.entry[views.start[row] : views.start[row + 1]]
            known[np.ix_(np.flatnonzero(level == row), entries)] = True
    np.fill_diagonal(known, False)
    return float(known.sum() / n)


def unit(levels: int = 0, n: int = 0) -> dict[str, Any]:
    """Views of one depth, or entries in the hierarchies of a size."""
    if n:
        return {"trees": _trees(n)}
    a = TREES[levels]
    _, known = hierarchy(a, levels, REDUNDANCY)
    informed = _informed(known) if levels > 1 else float(N - 1)
    entries, level = _entries(known), float(known.top.mean())
    return {"depths": [{"a": a, "entries": entries, "informed": informed, "level": level}]}


def _trees(n: int) -> pd.DataFrame:
    """Entries counted in hierarchies of a size, with 2 to 4 delegates, wherever a is at least R."""
    rows = [
        (redundancy, levels, a, _entries(hierarchy(a, levels, redundancy)[1]))
        for levels, a in DEEPER[n].items()
        for redundancy in (2, 3, 4)
        if a >= redundancy
    ]
    return pd.DataFrame(rows, columns=["redundancy", "levels", "a", "entries"])


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


def judge(tables: Tables) -> Claims:
    """Counted views beside equations 17, 18, 32 and 33 to 36."""
    table = _equations(tables["depths"])
    least = float(DEPTHS[_sizes().argmin()])
    derived = float(DEPTHS[np.argmin(REDUNDANCY * DEPTHS * N ** (1 / DEPTHS))])
    off, level = (
        (table[a] - table[b]).abs().max() for a, b in (("entries", "equation_18"), ("level", "equation_36"))
    )
    updates = float((table.informed / table.equation_35 - 1).abs().max())
    falls = {
        key: bool((np.diff(own.sort_values("levels").entries) < 0).all())
        for key, own in tables["trees"].groupby(["redundancy", "n"])
    }
    above, below = ([fell for (r, _), fell in falls.items() if (r > np.e) == over] for over in (True, False))
    yield claim("entries", float(off), off == 0)
    yield claim("least", round(least, 2), paper=round(log(N), 2))
    yield claim("derived", round(derived, 2), paper=round(log(N), 2))
    yield claim("deeper", sum(above), bool(above) and all(above), paper=len(above))
    yield claim("below_e", sum(below))
    yield claim("updates", round(updates, 4), updates)
    yield claim("level", round(float(level), 6), bool(level < 1e-9 and (np.diff(table.level) > 0).all()))


def views_and_updates(depths: pd.DataFrame) -> list[Series]:
    """Entries and participants to be updated, counted and by the equations."""
    table = _equations(depths)
    return [
        Series("view size, equation 18", DEPTHS, _sizes(), look=0, style="plain"),
        Series("view size, counted", table.levels, table.entries, "points", look=1),
        Series("to be updated, counted", table.levels, table.informed, "points", look=2),
        Series("to be updated, equation 35", table.levels, table.equation_35, style="black"),
    ]


def mean_levels(depths: pd.DataFrame) -> list[Series]:
    """The mean level of a participant, counted and by equation 36."""
    table = _equations(depths)
    return [
        Series("counted", table.levels, table.level, look=3),
        Series("equation 36, sum", table.levels, table.equation_36, look=4, style="plain"),
        Series("equation 36, estimate", table.levels, table.estimate, look=5, style="plain"),
    ]


def _sizes() -> NDArray[np.float64]:
    """Equation 18 at all depths."""
    return np.array([view_size(N ** (1 / depth), depth, REDUNDANCY) for depth in DEPTHS])
