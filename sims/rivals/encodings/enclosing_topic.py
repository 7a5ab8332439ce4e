"""One enclosing topic a subscriber: the smallest cell around its box, the common prefix of its corners."""

from __future__ import annotations

import numpy as np

from sims.rivals.base.entrants import Look
from sims.rivals.base.system import Integers
from sims.rivals.below.encoded import Cells, Encoded, Floats, point_cells


class EnclosingTopic(Encoded):
    """One enclosing topic a subscriber, which drops the events that it does not want."""

    name = "enclosing topic"
    worlds = ("ranges", "between")
    look = Look("orange", "s", "-")

    def memberships(self) -> Cells:
        """One each."""
        return np.arange(self.wanted.n), enclosing(self.wanted.lows, self.wanted.highs, self.wanted.bits)


def enclosing(lows: Floats, highs: Floats, bits: int) -> Integers:
    """The smallest cell around each closed box.

    Examples
    --------
    >>> [f"{cell:b}" for cell in enclosing(np.array([[4.0], [3.0]]), np.array([[5.0], [4.0]]), bits=3)]
    ['110', '1']
    """
    low, high = point_cells(lows, bits), point_cells(highs, bits)
    while (apart := low != high).any():
        low, high = np.where(apart, low >> 1, low), np.where(apart, high >> 1, high)
    return low
