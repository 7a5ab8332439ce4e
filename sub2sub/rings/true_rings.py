"""Rings: who an event goes round, in sequence ID order (Sub-2-Sub, Section 4.1).

The true ring of an event is what the overlay has to build without ever being told: all subscribers whose
box contains it, ordered by sequence ID and closed into a circle. `ring_neighbours` is what one subscriber
knows of it: its successor and predecessor among the links that contain the event.

Going round, b comes (b - a) mod 2^64 after a, and (a - b) mod 2^64 before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.geometry.boxes import normalise, points
from sub2sub.geometry.matching import Indices, Members, holds, match_boxes
from sub2sub.kernels.compilation import kernel
from sub2sub.rings.identifiers import sequence_id, sequence_ids


class Neighbours(NamedTuple):
    """Ring neighbours per event, as row numbers of links; -1 where no link contains the event.

    In a ring of two the successor is the predecessor.
    """

    successors: Indices
    predecessors: Indices


def true_rings(lows: ArrayLike, highs: ArrayLike, ids: ArrayLike, events: ArrayLike) -> Members:
    """For every event its ring: the matching subscribers in increasing sequence ID.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges of the subscribers; see `sub2sub.geometry.boxes.normalise`.
    ids : (n,) array_like of int
        Sequence IDs, unsigned 64-bit, all different.
    events : (m, d) array_like
        Points.

    Returns
    -------
    Members
        ``of(e)``: row numbers in ring order; the last one's successor is the first.

    Raises
    ------
    InputError
        As `normalise`, `points` and `sequence_ids` do.

    Examples
    --------
    >>> rings = true_rings([[0.0], [0.0], [2.0]], [[3.0], [9.0], [9.0]], [70, 50, 60], [[2.0], [5.0]])
    >>> rings.of(0), rings.of(1)
    (array([1, 2, 0]), array([1, 2]))
    """
    low, high = normalise(lows, highs)
    # Matching lists members by row: with the rows in ID order, rings need no sorting of their own.
    order = np.argsort(sequence_ids(ids, len(low)))
    matches = match_boxes(low[order], high[order], points(events, low.shape[1]))
    return Members(matches.offsets, order[matches.members])


def ring_neighbours(
    ring_id: int, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike, events: ArrayLike
) -> Neighbours:
    """For every event the nearest link after and before a node that contains it.

    Parameters
    ----------
    ring_id : int
        Sequence ID of the node.
    lows, highs, ids : (n, d), (n, d), (n,) array_like
        Its links: closed ranges and sequence IDs, the node's own not among them.
    events : (m, d) array_like
        Points.

    Returns
    -------
    Neighbours
        `successors` and `predecessors`, (m,) row numbers into the links, -1 for none.

    Raises
    ------
    InputError
        As `normalise`, `points` and `sequence_ids` do.

    Examples
    --------
    >>> found = ring_neighbours(6, [[0.0], [0.0], [2.0]], [[3.0], [9.0], [9.0]], [7, 5, 8], [[1.0], [5.0]])
    >>> found.successors, found.predecessors
    (array([0, 2]), array([1, 1]))
    """
    own = sequence_id(ring_id)
    low, high = normalise(lows, highs)
    behind = sequence_ids(ids, len(low), own) - np.uint64(own)  # wraps round
    at = points(events, low.shape[1])
    order = np.argsort(behind)
    return Neighbours(_first(low, high, order, at), _first(low, high, order[::-1].copy(), at))


@kernel
def _first(lows, highs, order, events):
    """The first box in `order` that contains each event, or -1."""
    first = np.full(events.shape[0], -1, np.int64)
    for e in range(events.shape[0]):
        for s in order:
            if holds(lows, highs, s, events, e):
                first[e] = s
                break
    return first
