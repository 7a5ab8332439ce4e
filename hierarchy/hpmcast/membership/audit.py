"""Compares views with exact views, to measure the quality of membership."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.views import Views
from sub2sub.compiled.machinery.compilation import kernel


@dataclass(frozen=True)
class Audit:
    """Errors in the views of live participants."""

    right: NDArray[np.float64]  # (l,) per level, the share of participants whose view is exact
    whole: float  # the share of participants whose views are all exact
    dead: float  # the share of view entries that have crashed
    missing: float  # the share of entries of exact views that are missing


@kernel
def _compare(views, exact, alive, right, counts):
    levels, n = views.row.shape
    for x in range(n):
        if alive[x] == 0:
            continue
        counts[0] += 1
        whole = True
        for i in range(levels):
            a, b = views.start[views.row[i, x]], views.start[views.row[i, x] + 1]
            c, d = exact.start[exact.row[i, x]], exact.start[exact.row[i, x] + 1]
            same = 0
            for e in range(a, b):
                counts[2] += 1
                counts[3] += 1 - alive[views.entry[e]]
            # Most entries are at the same position in both views: look there first.
            for f in range(c, d):
                at = a + f - c
                found = at < b and views.entry[at] == exact.entry[f]
                same += found
                if not found:
                    for e in range(a, b):
                        if views.entry[e] == exact.entry[f]:
                            found = True
                            break
                counts[4] += 1
                counts[5] += not found
            exactly = b - a == d - c and same == d - c
            right[i] += exactly
            whole &= exactly
        counts[1] += whole


def audit(views: Views, exact: Views, alive: NDArray[np.uint8]) -> Audit:
    """Compare the views of live participants with exact ones.

    Examples
    --------
    >>> from hierarchy.hpmcast import Membership, Population
    >>> layer, alive = Membership(Population.regular(a=4, levels=2)), np.ones(16, np.uint8)
    >>> layer.make_exact()
    >>> alive[0] = 0
    >>> found = audit(layer.knowledge().views(), layer.exact(alive).views(), alive)
    >>> found.whole, found.right.tolist(), round(found.dead, 3)
    (0.0, [0.8, 0.0], 0.075)
    """
    right, counts = np.zeros(len(views.row)), np.zeros(6, np.int64)
    _compare(views, exact, alive, right, counts)
    living = max(int(counts[0]), 1)
    return Audit(
        right / living,
        float(counts[1] / living),
        float(counts[3] / max(counts[2], 1)),
        float(counts[5] / max(counts[4], 1)),
    )
