"""How wide subscriptions are along each attribute: the unit in which to measure distances along it.

Sub-2-Sub measures how near two subscriptions are by their coordinates (Section 4.1), as if all attributes had
one unit. Strings, prices and exact values have different units. Axes of equal length do not help: on an axis
of 50 values of which every subscription wants one, the next value is as wrong as the last, and only a
fiftieth of the axis away; on an axis of price ranges, a tenth of the axis may be near. A subscription is far
if it is several widths of a usual range away. An attribute of which most subscriptions want one value comes
before all others: a peer that wants another value is of no use, however near it is otherwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.geometry.boxes import normalise

BEFORE = 8  # how much more a step from one exact value to the next counts than the width of a range


def typical_widths(lows: ArrayLike, highs: ArrayLike) -> tuple[float, ...]:
    """The usual width of a range along each attribute, for `OverlaySettings.axes`.

    The median of the finite widths; where most are exact values, an eighth of the usual step from one value
    to the next; 1 where nothing can be told.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges: subscriptions such as one expects, some hundreds will do. All peers have to measure
        alike, so that is declared to them, as the attributes are.

    Examples
    --------
    >>> typical_widths([[0.0, 3], [5.0, 7], [2.0, 4]], [[4.0, 3], [9.0, 7], [7.0, 4]])
    (4.0, 0.25)
    """
    normalise(lows, highs)
    low, high = np.asarray(lows, float), np.asarray(highs, float)
    with np.errstate(over="ignore"):
        widths = high - low
    return tuple(_typical(widths[:, k], np.concatenate([low[:, k], high[:, k]])) for k in range(low.shape[1]))


def _typical(width: np.ndarray, ends: np.ndarray) -> float:
    finite = width[np.isfinite(width)]
    if finite.size and np.median(finite) > 0:
        return float(np.median(finite))
    steps = np.diff(np.unique(ends[np.isfinite(ends)]))
    return float(np.median(steps)) / BEFORE if steps.size else 1.0
