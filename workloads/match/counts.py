"""How many subscriptions match each event, for arrays; `workloads.frames.matches` is for DataFrames.

`sub2sub.geometry.matching.match` lists every match. Here they are only counted, because the matches of a
large workload do not fit into memory (55 million for 10,000 events and a million subscriptions).
"""

from __future__ import annotations

from workloads.arrays import Floats, Integers
from workloads.match.bitmaps import Bitmaps


def count_matches(lows: Floats, highs: Floats, points: Floats, enough: int | None = None) -> Integers:
    """How many closed boxes contain each point.

    Parameters
    ----------
    enough : int, optional
        Counting may stop here: a count of `enough` or more means at least `enough`.

    Examples
    --------
    >>> import numpy as np
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> count_matches(lows, highs, np.array([[0.2], [0.5], [2.0]])).tolist()
    [1, 2, 0]
    """
    return Bitmaps(lows, highs, points).count(enough)
