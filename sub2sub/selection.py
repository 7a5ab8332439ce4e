"""Ring selection: Figure 3 of Sub-2-Sub (004), for node j.

Going through the candidates in increasing sequence-ID order from the node's own (cyclically), a candidate
is selected when it intersects the node's box somewhere no nearer candidate covers: the *successors*. Going
down gives the *predecessors*. So for every point of the node's box, the nearest candidate on either side
that contains the point is selected, and each selected one is needed for some point.

Read differently from the paper: ranges are closed, as in Section 2, and the remainder is not kept as a list
of boxes but asked for (`sub2sub.cover`), which selects the same candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.boxes import normalise
from sub2sub.compilation import kernel
from sub2sub.cover import clip, covered, stack_for
from sub2sub.errors import InputError

__all__ = ["RingSelection", "select_ring"]


@dataclass(frozen=True)
class RingSelection:
    """What `select_ring` selected: indices into the candidates, nearest first.

    A candidate may be both a successor and a predecessor, for different points or in a ring of two.
    """

    successors: NDArray[np.int64]
    predecessors: NDArray[np.int64]


@kernel
def _select(box, boxes, order, d):
    """Go through `order` and keep what intersects the box where nothing kept before covers it."""
    kept = np.empty(order.shape[0], np.int64)
    parts = np.empty((16, 2, d), np.float64)
    stack = stack_for(16, d)
    part = np.empty((2, d), np.float64)
    witness = np.empty(d, np.float64)
    used = np.empty(2, np.int64)
    count = 0
    for candidate in order:
        if not clip(box, boxes[candidate], d, part):
            continue
        if covered(part, parts, count, d, stack, 0, witness, used) == 1:
            continue
        if count == parts.shape[0]:
            more = np.empty((2 * count, 2, d), np.float64)
            more[:count] = parts
            parts = more
            stack = stack_for(2 * count, d)
        parts[count] = part
        kept[count] = candidate
        count += 1
    return kept[:count]


def select_ring(
    low: ArrayLike, high: ArrayLike, ring_id: int, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike
) -> RingSelection:
    """Select the ring neighbours of a node among candidates.

    Parameters
    ----------
    low, high : (d,) array_like
        The node's subscription, closed ranges.
    ring_id : int
        The node's sequence ID, unsigned 64 bits.
    lows, highs : (n, d) array_like
        The candidates' subscriptions, closed ranges.
    ids : (n,) array_like of unsigned 64 bits
        The candidates' sequence IDs: distinct, and none equal to the node's.

    Returns
    -------
    RingSelection
        `successors` and `predecessors`, index arrays into the candidates, nearest first.

    Raises
    ------
    InputError
        For NaN, low > high, wrong dimensions or duplicate IDs, naming the row.

    References
    ----------
    Voulgaris, Rivière, Kermarrec, van Steen: Sub-2-Sub (2006), Figure 3.

    Examples
    --------
    >>> ring = select_ring([0], [10], 50, [[0], [4], [0]], [[5], [10], [10]], [60, 70, 80])
    >>> ring.successors, ring.predecessors
    (array([0, 1]), array([2]))
    """
    box = np.stack(normalise(np.atleast_2d(low), np.atleast_2d(high), ("low", "high")), axis=1)
    d = box.shape[2]
    if np.size(lows) == 0 and np.size(highs) == 0 and np.size(ids) == 0:
        return RingSelection(np.empty(0, np.int64), np.empty(0, np.int64))
    boxes = np.stack(normalise(lows, highs), axis=1)
    if boxes.shape[2] != d:
        raise InputError(f"lows: expected {d} attributes as the node has, got {boxes.shape[2]}")
    numbers = _ring_ids(ids, boxes.shape[0], int(ring_id))
    distance = numbers - np.uint64(ring_id)  # modulo 2^64: the way up to each candidate
    ascending = np.argsort(distance)
    return RingSelection(
        _select(box[0], boxes, ascending, d),
        _select(box[0], boxes, ascending[::-1].copy(), d),
    )


def _ring_ids(ids: ArrayLike, n: int, own: int) -> NDArray[np.uint64]:
    raw = np.asarray(ids)
    if raw.shape != (n,):
        raise InputError(f"ids: expected shape ({n},), one per candidate, got {raw.shape}")
    if raw.dtype.kind not in "ui" or (raw.dtype.kind == "i" and n and raw.min() < 0):
        raise InputError(f"ids: expected unsigned 64-bit integers, got {raw.dtype}")
    if not 0 <= own < 2**64:
        raise InputError(f"ring_id: expected an unsigned 64-bit integer, got {own}")
    numbers = raw.astype(np.uint64)
    order = np.argsort(numbers, kind="stable")
    same = np.flatnonzero(numbers[order[1:]] == numbers[order[:-1]])
    if same.size:
        first, second = int(order[same[0]]), int(order[same[0] + 1])
        raise InputError(f"ids: row {second}: expected distinct IDs, {numbers[second]} is also in row {first}")
    own_rows = np.flatnonzero(numbers == np.uint64(own))
    if own_rows.size:
        raise InputError(f"ids: row {own_rows[0]}: expected an ID other than the node's own, {own}")
    return numbers
