"""Which subscriptions match which events, on arrays in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import kernel

__all__ = ["has_at_least"]

Floats = NDArray[np.float64]


@kernel
def _has_at_least(lows, highs, points, least, out):
    n, d = lows.shape
    for event in range(len(points)):
        found = 0
        for box in range(n):
            inside = True
            for axis in range(d):
                x = points[event, axis]
                if x < lows[box, axis] or x > highs[box, axis]:
                    inside = False
                    break
            if inside:
                found += 1
                if found == least:
                    out[event] = True
                    break


def has_at_least(lows: Floats, highs: Floats, points: Floats, least: int) -> NDArray[np.bool_]:
    """Whether at least `least` closed boxes contain each point; stops counting there.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> has_at_least(lows, highs, np.array([[0.2], [0.5]]), 2).tolist()
    [False, True]
    """
    out = np.zeros(len(points), np.bool_)
    lows, highs, points = (np.ascontiguousarray(array, np.float64) for array in (lows, highs, points))
    _has_at_least(lows, highs, points, least, out)
    return out
