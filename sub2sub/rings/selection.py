"""Ring selection: Figure 3 of Sub-2-Sub, for one node.

Candidates are visited in increasing order of sequence IDs, starting after the node's own and wrapping around.
A candidate is selected as a *successor* if it contains a point of the node's box that no candidate visited
before contains. Visiting in decreasing order selects the *predecessors*. So for every point of the node's
box, the nearest candidates in both directions that contain the point are selected, and each selected
candidate is needed for some point.

Read differently from the paper: ranges are closed, as in Section 2. The remainder of Figure 3 is not kept as
a list of boxes; instead, each candidate is tested for cover (`sub2sub.geometry.cover`), which selects the
same candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import normalise
from sub2sub.geometry.cover import CoverSpace, ask, clip, new_gathered, new_stack, stack_rows
from sub2sub.geometry.labels import Labels
from sub2sub.kernels.compilation import apart
from sub2sub.kernels.memory import LANES32, padded
from sub2sub.kernels.references import by_reference
from sub2sub.rings.identifiers import sequence_id, sequence_ids


@dataclass(frozen=True)
class RingSelection:
    """The result of `select_ring`: indices of candidates, nearest first.

    A candidate may be both a successor and a predecessor: for different points, or in a ring of two.
    """

    successors: NDArray[np.int64]
    predecessors: NDArray[np.int64]


@by_reference
class Space(NamedTuple):
    """Scratch space for `select`; see `sub2sub.geometry.cover`."""

    columns: NDArray[np.int32]
    cover: CoverSpace


def new_space(candidates: int, d: int, selected: int | None = None) -> Space:
    """Scratch space to select from that many candidates; at most `selected` of them, if given."""
    places = padded(max(candidates, 1), LANES32)
    cover = CoverSpace(
        new_gathered(places, d), new_stack(selected or candidates, d), np.empty(d, np.int32),
        np.zeros(3, np.int64),
    )  # fmt: skip
    return Space(np.zeros((2 * d, places), np.int32), cover)


@apart
def select(boxes, d, node, order, kept, space):
    """Visit candidates in `order`, and keep those whose part of the node's box is not covered by kept ones.

    Writes them to `kept`; returns their number, -1 if there is no space for them.
    """
    columns, stack, count = space.columns, space.cover.stack, np.int64(0)
    for at in range(order.shape[0]):
        candidate = order[at]
        if stack.shape[0] < stack_rows(count, d):
            return np.int64(-1)
        if not clip(boxes[node], boxes[candidate], d, stack[0]):
            continue
        if ask(columns, 0, count, d, 0, space.cover) > 0:
            continue
        for k in range(d):
            columns[2 * k, count], columns[2 * k + 1, count] = boxes[candidate, 0, k], boxes[candidate, 1, k]
        kept[count] = candidate
        count += 1
    return count


def _selected(boxes: NDArray[np.int32], d: int, node: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
    kept, enough = np.empty(order.size, np.int64), 64
    while True:
        count = int(select(boxes, d, node, order, kept, new_space(order.size, d, min(enough, order.size))))
        if count >= 0:
            return kept[:count]
        enough *= 8


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
        For NaN, low > high, wrong dimensions or duplicate IDs; with the row.

    References
    ----------
    Voulgaris, Rivière, Kermarrec, van Steen: Sub-2-Sub (2006), Figure 3.

    Examples
    --------
    >>> ring = select_ring([0], [10], 50, [[0], [4], [0]], [[5], [10], [10]], [60, 70, 80])
    >>> ring.successors, ring.predecessors
    (array([0, 1]), array([2]))
    """
    own = sequence_id(ring_id)
    if np.ndim(low) != 1 or np.ndim(high) != 1:
        raise InputError(f"low, high: expected shape (d,), got {np.shape(low)}, {np.shape(high)}")
    own_low, own_high = normalise(np.atleast_2d(low), np.atleast_2d(high), ("low", "high"))
    d = own_low.shape[1]
    if np.size(lows) == 0 and np.size(highs) == 0 and np.size(ids) == 0:
        return RingSelection(np.empty(0, np.int64), np.empty(0, np.int64))
    low_table, high_table = normalise(lows, highs)
    n = low_table.shape[0]
    if low_table.shape[1] != d:
        raise InputError(f"lows: expected {d} attributes, as `low` has, got {low_table.shape[1]}")
    numbers = sequence_ids(ids, n, own)
    boxes = Labels(
        np.stack([np.vstack([low_table, own_low]), np.vstack([high_table, own_high])], axis=1), d
    ).boxes
    distance = numbers - np.uint64(own)  # modulo 2^64: from the node up the ring to each candidate
    ascending = np.argsort(distance)
    return RingSelection(_selected(boxes, d, n, ascending), _selected(boxes, d, n, ascending[::-1].copy()))
