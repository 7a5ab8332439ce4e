"""Distribution of a quantity: mean, extremes and quantiles, combined from pieces of any size.

Each task describes its rows by values with weights. Up to KNOTS distinct values are all kept, and quantiles
are exact. Otherwise KNOTS even quantiles are kept, and the rank of a quantile of the whole is off by at most
1 / KNOTS. Count, mean, minimum and maximum are always exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workloads.arrays import Floats

KNOTS = 8192
QUANTILES = {
    "p1": 0.01, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99, "p99.9": 0.999,
}  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """Values in rising order, the number of rows of each, and the exact sum of all rows."""

    values: Floats
    weights: Floats
    total: float = 0.0

    @classmethod
    def of(cls, rows: NDArray[Any], knots: int = KNOTS) -> Spread:
        """The spread of rows.

        Examples
        --------
        >>> Spread.of(np.array([3, 1, 3])).row("length")["mean"]
        2.3333333333333335
        """
        values, counts = np.unique(np.asarray(rows, np.float64), return_counts=True)
        total = float(np.sum(rows, dtype=np.float64))
        if len(values) <= knots:
            return cls(values, counts.astype(np.float64), total)
        # Both ends are kept; the weight of a knot is the number of rows since the knot before it.
        ranks = np.cumsum(counts)
        places = np.searchsorted(ranks, np.linspace(1, ranks[-1], knots), side="left")
        places = np.unique(np.append(places, (0, len(values) - 1)))
        return cls(values[places], np.diff(ranks[places], prepend=0).astype(np.float64), total)

    @classmethod
    def together(cls, pieces: Sequence[Spread]) -> Spread:
        """The spread of the rows of all pieces.

        Examples
        --------
        >>> Spread.together([Spread.of(np.array([1, 2])), Spread.of(np.array([2, 9]))]).quantile(0.75)
        2.0
        """
        if not pieces:
            return cls(np.zeros(0), np.zeros(0))
        values, places = np.unique(np.concatenate([piece.values for piece in pieces]), return_inverse=True)
        weights: Floats = np.zeros(len(values))
        np.add.at(weights, places, np.concatenate([piece.weights for piece in pieces]))
        return cls(values, weights, sum(piece.total for piece in pieces))

    @property
    def count(self) -> int:
        """How many rows there are."""
        return round(float(self.weights.sum()))

    def quantile(self, share: float) -> float:
        """The smallest value that this share of the rows does not exceed."""
        ranks = np.cumsum(self.weights)
        place = int(np.searchsorted(ranks, share * ranks[-1] * (1 - 1e-12), side="left"))
        return float(self.values[min(place, len(self.values) - 1)])

    def below(self, x: Floats, including: bool) -> Floats:
        """How many rows are below each x, or equal to it if `including`."""
        ranks = np.append(0.0, np.cumsum(self.weights))
        found: Floats = ranks[np.searchsorted(self.values, x, side="right" if including else "left")]
        return found

    def row(self, quantity: str) -> dict[str, Any]:
        """One row of a table of quantities."""
        row: dict[str, Any] = {"quantity": quantity, "count": self.count}
        if self.count:
            row |= {"mean": self.total / self.count, "min": float(self.values[0])}
            row |= {name: self.quantile(share) for name, share in QUANTILES.items()}
            row["max"] = float(self.values[-1])
        return row
