"""True rings: the subscribers of an event, in the order of their sequence IDs (Sub-2-Sub, Section 4.1).

The true ring of an event has all subscribers whose box contains it; the successor of the last is the first.
Peers have to build it without knowing it. `ring_neighbours` computes what one node knows of it: its successor
and predecessor among its links that contain the event.

On the ring, b is (b - a) mod 2^64 after a, and (a - b) mod 2^64 before a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.geometry.boxes import normalise, points
from sub2sub.geometry.matching import Indices, Members, first_match, match_boxes
from sub2sub.rings.identifiers import sequence_id, sequence_ids


class Neighbours(NamedTuple):
    """Ring neighbours per event, as row numbers of links; -1 where no link contains the event.

    In a ring of two, successor and predecessor are the same.
    """

    successors: Indices
    predecessors: Indices


def true_rings(lows: ArrayLike, highs: ArrayLike, ids: ArrayLike, events: ArrayLike) -> Members:
    """The ring of every event: the matching subscribers, in increasing order of their sequence IDs.

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
    # Members are listed by row: if rows are in the order of IDs, rings need not be sorted.
    order = np.argsort(sequence_ids(ids, len(low)))
    matches = match_boxes(low[order], high[order], points(events, low.shape[1]))
    return Members(matches.offsets, order[matches.members])


def ring_neighbours(
    ring_id: int, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike, events: ArrayLike
) -> Neighbours:
    """For every event the nearest links after and before a node that contain it.

    Parameters
    ----------
    ring_id : int
        Sequence ID of the node.
    lows, highs, ids : (n, d), (n, d), (n,) array_like
        Its links: closed ranges and sequence IDs, without the node's own ID.
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
    behind = sequence_ids(ids, len(low), own) - np.uint64(own)  # modulo 2^64
    at = points(events, low.shape[1])
    order = np.argsort(behind)
    return Neighbours(first_match(low, high, order, at), first_match(low, high, order[::-1].copy(), at))
