"""The order in which events are spread: along a Z-order curve through the attribute space (Morton, 1966).

Events that are near one another in attribute space follow one another, so the peers, views and boxes that
they use are still in the processor's caches. `by_number` sorts results back by the numbers of the events.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def z_order(events: NDArray[np.float64]) -> Integers:
    """The numbers of the events (m, d) in Z-order: by the highest bits of all attributes, then the next bits.

    Examples
    --------
    >>> z_order(np.array([[0.0, 0.0], [0.9, 0.9], [0.1, 0.0], [1.0, 0.0]]))
    array([0, 2, 3, 1])
    """
    m, d = events.shape
    if m == 0:
        return np.arange(m)
    bits = max(60 // d, 1)
    low, high = events.min(axis=0), events.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        share = (events - low) / np.where(high > low, high - low, 1.0)
    cell = (np.nan_to_num(share, nan=0.0, posinf=0.0) * (2.0**bits - 1)).astype(np.int64)
    curve = np.zeros(m, np.int64)
    for bit in range(bits - 1, -1, -1):
        for k in range(d):
            curve = curve << 1 | (cell[:, k] >> bit & 1)
    return np.argsort(curve, kind="stable")


def by_number(order: Integers, lengths: Integers, values: NDArray[Any]) -> tuple[Integers, NDArray[Any]]:
    """Values of events, sorted by the events' numbers; also where the values of each event begin.

    `values` come in the order of events `order`; event e has `lengths[e]` of them.

    Examples
    --------
    >>> by_number(np.array([1, 0]), np.array([1, 2]), np.array([7, 8, 9]))
    (array([0, 1, 3]), array([9, 7, 8]))
    """
    start = np.empty(order.size, np.int64)
    start[order] = np.cumsum(lengths[order]) - lengths[order]
    offsets = np.append(0, np.cumsum(lengths))
    return offsets, values[np.repeat(start - offsets[:-1], lengths) + np.arange(len(values))]
