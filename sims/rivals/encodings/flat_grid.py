"""A flat grid: every attribute is cut into equal cells, and a subscriber joins all that its box touches.

An event belongs to one cell.
"""

from __future__ import annotations

import numpy as np

from sims.rivals.base.entrants import Look, Unable
from sims.rivals.below.encoded import MOST_MEMBERS, Cells, Encoded, point_cells

FINE = 6  # halvings of the space in all: 64 cells


class FlatGrid(Encoded):
    """All cells of a grid that a box touches."""

    name = "flat grid"
    worlds = ("ranges",)
    look = Look("orange", "^", "--")

    def halvings(self) -> list[int]:
        """Halvings of each attribute: at least one, 64 cells in all where there is room."""
        return [min(self.wanted.bits, max(1, FINE // self.wanted.d))] * self.wanted.d

    def memberships(self) -> Cells:
        """One for each cell that a box touches."""
        wanted, halvings = self.wanted, self.halvings()
        shift = np.array([wanted.bits - each for each in halvings])
        low, high = (side.astype(np.int64) >> shift for side in (wanted.lows, wanted.highs))
        counts = np.prod(high - low + 1, axis=1)
        if counts.sum() > MOST_MEMBERS:
            raise Unable(f"not run: {counts.sum():,} memberships, more than {MOST_MEMBERS:,}")
        owner = np.repeat(np.arange(wanted.n), counts)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        corner = np.empty((len(owner), wanted.d), np.int64)
        for axis in range(wanted.d):
            width = (high - low + 1)[owner, axis]
            corner[:, axis] = low[owner, axis] + place % width
            place = place // width
        fine = point_cells((corner << shift).astype(np.float64), wanted.bits)
        return owner, fine >> _below(halvings, wanted.bits)


def _below(halvings: list[int], bits: int) -> int:
    """How many halvings of the interleaved cells lie below those of the grid, which are equal."""
    return len(halvings) * (bits - halvings[0])
