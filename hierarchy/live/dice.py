"""Draws of one member for one purpose, one after the other, from a key."""

from __future__ import annotations

import numpy as np

from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, unit

__all__ = ["Dice"]


@kernel
def _bits(key, k):
    return draw(key, k)


@kernel
def _below(key, k, n):
    return below(draw(key, k), n)


@kernel
def _unit(key, k):
    return unit(draw(key, k))


class Dice:
    """A key, and how many of its draws are used up.

    Examples
    --------
    >>> dice = Dice(np.uint64(7))
    >>> dice.below(10) < 10, 0.0 <= dice.unit() < 1.0, dice.used
    (True, True, 2)
    """

    def __init__(self, key: np.uint64) -> None:
        self.key, self.used = key, 0

    def bits(self) -> np.uint64:
        """64 random bits."""
        self.used += 1
        return np.uint64(_bits(self.key, self.used - 1))

    def below(self, n: int) -> int:
        """A number below n."""
        self.used += 1
        return int(_below(self.key, self.used - 1, n))

    def unit(self) -> float:
        """A number from 0 to 1, without 1."""
        self.used += 1
        return float(_unit(self.key, self.used - 1))
