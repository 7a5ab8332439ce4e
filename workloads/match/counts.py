"""How many subscriptions match each event, on arrays in memory; `workloads.match.tiles` does it for folders.

Who matches is `sub2sub.geometry.matching.match`, which lists every match; here they are only counted, for
workloads whose matches outnumber the memory (55 million for 10,000 events on a million subscriptions).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workloads.match.index import make_index

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def count_matches(lows: Floats, highs: Floats, points: Floats, enough: int | None = None) -> Counts:
    """How many closed boxes contain each point.

    Parameters
    ----------
    enough : int, optional
        Where counting may stop: a count of `enough` or more only says that there are at least so many.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> count_matches(lows, highs, np.array([[0.2], [0.5], [2.0]])).tolist()
    [1, 2, 0]
    """
    return make_index(lows, highs, points, enough).count(enough)


def has_at_least(lows: Floats, highs: Floats, points: Floats, least: int) -> NDArray[np.bool_]:
    """Whether at least `least` closed boxes contain each point.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> has_at_least(lows, highs, np.array([[0.2], [0.5]]), 2).tolist()
    [False, True]
    """
    return np.greater_equal(count_matches(lows, highs, points, enough=max(1, least)), least)
