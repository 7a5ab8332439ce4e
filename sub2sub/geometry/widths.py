"""Typical widths of ranges, as units of distance along each attribute.

Sub-2-Sub computes the distance of two subscriptions from their coordinates (Section 4.1), as if all
attributes had the same unit. Strings, prices and exact values have different units. Scaling all axes to equal
length does not help. On an axis of 50 values, where every subscription wants one exact value, all other
values are equally useless, but the next one is only a fiftieth of the axis away; on an axis of price ranges,
a tenth of the axis may be near. Here the unit is the width of a typical range. An attribute with mostly exact
values gets a smaller unit, so that it counts more than all others: a peer that wants another exact value is
of no use, however near it is on the other attributes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.geometry.boxes import normalise

BEFORE = 8  # a step from one exact value to the next is as far as this many widths of a range


def typical_widths(lows: ArrayLike, highs: ArrayLike) -> tuple[float, ...]:
    """The typical width of a range along each attribute, for `OverlaySettings.axes`.

    The median of the finite widths. Where most ranges are exact values, an eighth of the median step from one
    value to the next. 1 where there are neither widths nor steps.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges: a sample of typical subscriptions; some hundreds are enough. All peers must use the
        same widths, so they are part of the configuration, like the attributes.

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
