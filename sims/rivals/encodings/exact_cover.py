"""An exact cover of each range by several topics: the largest cells inside the box.

With one attribute these are 2 (bits - 1) at most, but with d of them of the order of 2^(bits (d - 1)), as
many as the box has surface. No subscriber receives what it does not want.
"""

from __future__ import annotations

import numpy as np

from sims.config.interests import Subscriptions
from sims.rivals.base.entrants import Look, Unable
from sims.rivals.base.system import Integers
from sims.rivals.below.encoded import MOST_MEMBERS, Cells, Encoded, Floats, point_cells
from sub2sub.compiled.machinery.compilation import kernel

SAMPLE = 100  # subscribers from whose covers the number of memberships is estimated


class ExactCover(Encoded):
    """An exact cover by several topics."""

    name = "exact cover"
    worlds = ("ranges", "between")
    look = Look("pink", "^", "-")

    def memberships(self) -> Cells:
        """As many as the cover has cells."""
        found = cover(self.wanted.lows, self.wanted.highs, self.wanted.bits, MOST_MEMBERS)
        if found is None:
            raise Unable(_too_many(self.wanted))
        offsets, cells = found
        return np.repeat(np.arange(self.wanted.n), np.diff(offsets)), cells


def _too_many(wanted: Subscriptions) -> str:
    """How many memberships an exact cover would take, from the first subscribers."""
    some = cover(wanted.lows[:SAMPLE], wanted.highs[:SAMPLE], wanted.bits, 40 * MOST_MEMBERS)
    if some is None:
        each = f"more than {40 * MOST_MEMBERS // SAMPLE:,}"
    else:
        each = f"about {len(some[1]) // min(SAMPLE, wanted.n):,}"
    return f"not run: {each} topics a subscriber, more than {MOST_MEMBERS:,} memberships in all"


def cover(lows: Floats, highs: Floats, bits: int, most: int) -> tuple[Integers, Integers] | None:
    """The smallest set of cells that makes up each closed box exactly; None if there are more than `most`.

    Returns
    -------
    offsets, cells
        Those of box i are ``cells[offsets[i] : offsets[i + 1]]``, disjoint.

    Examples
    --------
    >>> offsets, cells = cover(np.array([[1.0]]), np.array([[6.0]]), bits=3, most=100)
    >>> [f"{cell:b}" for cell in cells]  # 1, 2 to 3, 4 to 5, 6
    ['1001', '101', '110', '1110']
    """
    low, high = np.asarray(lows).astype(np.int64), np.asarray(highs).astype(np.int64)
    point_cells(lows[:1], bits)  # refuses grids that are too fine
    cells = np.empty(most, np.int64)
    offsets = np.zeros(len(low) + 1, np.int64)
    return (offsets, cells[: offsets[-1]].copy()) if _cover_all(low, high, bits, cells, offsets) else None


@kernel
def _cover_all(lows, highs, bits, cells, offsets):
    n, d = lows.shape
    deepest = bits * d
    waiting = np.empty(deepest + 2, np.int64)
    corner, extent = np.empty((deepest + 2, d), np.int64), np.empty((deepest + 2, d), np.int64)
    at = np.int64(0)
    for box in range(n):
        size = 1
        waiting[0] = 1
        corner[0, :] = 0
        extent[0, :] = np.int64(1) << bits
        while size > 0:
            size -= 1
            cell = waiting[size]
            inside, apart = True, False
            for axis in range(d):
                low, last = corner[size, axis], corner[size, axis] + extent[size, axis] - 1
                inside &= lows[box, axis] <= low and last <= highs[box, axis]
                apart |= last < lows[box, axis] or highs[box, axis] < low
            if apart:
                continue
            if inside:
                if at == cells.shape[0]:
                    return False
                cells[at] = cell
                at += 1
                continue
            depth = 0
            while cell >> (depth + 1) > 0:
                depth += 1
            axis = depth % d
            # The lower half is looked at first, so it goes on top.
            corner[size + 1], extent[size + 1] = corner[size], extent[size]
            half = extent[size, axis] >> 1
            extent[size, axis], extent[size + 1, axis] = half, half
            corner[size, axis] += half
            waiting[size], waiting[size + 1] = cell << 1 | 1, cell << 1
            size += 2
        offsets[box + 1] = at
    return True
