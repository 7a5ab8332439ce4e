"""The ring view's rule for one peer: which candidates to take up, one after the other, and whom to drop.

The same two questions as in `sub2sub.ring.view`, asked of `sub2sub.geometry.cover` without anything
remembered in between: is a candidate's part of one's box covered by nearer neighbours on either side, and
whom does Figure 3 of Sub-2-Sub select in the end?
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sub2sub.geometry.cover import ask, clip, heap_for, stack_for
from sub2sub.geometry.labels import Labels
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.simd.vectors import LANES
from sub2sub.live.core.descriptors import Descriptor
from sub2sub.live.core.known_peers import Crowd

__all__ = ["away", "overlap", "select_one_by_one"]

AROUND = 2**64


def away(a: int, b: int) -> int:
    """How far apart two sequence IDs are on the ring.

    Examples
    --------
    >>> away(2**64 - 1, 2)
    3
    """
    return min((a - b) % AROUND, (b - a) % AROUND)


def overlap(a: Descriptor, b: Descriptor) -> bool:
    """Whether two subscriptions share a point."""
    return all(max(p, r) <= min(q, s) for p, q, r, s in zip(a.low, a.high, b.low, b.high, strict=True))


@kernel
def _is_needed(boxes, d, own, x, members, side, columns, heap, stack, max_steps, witness, counts):
    """Whether x is the nearest member for some point of the box of `own`, up (0) or down (1) the ring."""
    n = boxes.shape[0]
    count = 0
    for step in range(1, n):
        other = (own + step) % n if side == 0 else (own - step + n) % n
        if other == x:
            break
        if members[other]:
            for k in range(d):
                columns[2 * k, count] = boxes[other, 0, k]
                columns[2 * k + 1, count] = boxes[other, 1, k]
            count += 1
    if not clip(boxes[own], boxes[x], d, stack[0]):
        return False
    return ask(columns, np.int64(0), count, d, heap, stack, max_steps, witness, counts) == 0


@kernel
def _select(boxes, d, own, members, candidates, max_steps, most, taken):
    """Offer the candidates one after the other; `taken` tells who was taken up, `members` who stays."""
    n = boxes.shape[0]
    places = (n + LANES - 1) // LANES * LANES
    columns = np.zeros((2 * d, places), np.int32)
    heap, stack = heap_for(places, d), stack_for(n, d)
    witness, counts = np.empty(d, np.int32), np.zeros(3, np.int64)
    size = 0
    for x in range(n):
        size += members[x]
    for c in range(candidates.shape[0]):
        x = candidates[c]
        if members[x] or (most > 0 and size >= most):
            continue
        for side in range(2):
            if _is_needed(
                boxes, d, own, x, members, side, columns, heap, stack, max_steps, witness, counts
            ):  # fmt: skip
                members[x], taken[c] = True, True
                size += 1
                break
    stays = np.zeros(n, np.bool_)
    for x in range(n):
        if members[x]:
            for side in range(2):
                stays[x] |= _is_needed(
                    boxes, d, own, x, members, side, columns, heap, stack, max_steps, witness, counts
                )
    members[:] = stays


def select_one_by_one(
    own: Descriptor,
    neighbours: Sequence[Descriptor],
    candidates: Sequence[Descriptor],
    max_steps: int = 0,
    most: int = 0,
) -> tuple[list[Descriptor], set[int]]:
    """Offer candidates to a ring view, in this order.

    Parameters
    ----------
    own : Descriptor
    neighbours, candidates : sequences of Descriptor
        Who is in the view, and who may come; all overlap `own`.
    max_steps, most : int
        `max_steps` and `cap` of `RingSettings`.

    Returns
    -------
    taken : list of Descriptor
        Those that were taken up, in order, even if one after them has made them superfluous.
    stays : set of int
        Sequence IDs of the view afterwards.

    Examples
    --------
    >>> own, far, near = (Descriptor.of(id, "h", id, [0.0], [1.0]) for id in (50, 80, 60))
    >>> taken, stays = select_one_by_one(own, [], [far, near])
    >>> [peer.id for peer in taken], sorted(stays)
    ([80, 60], [60, 80])
    """
    crowd = Crowd([own, *neighbours, *candidates])
    members = np.zeros(len(crowd.peers), np.bool_)
    members[[crowd.number[peer.id] for peer in neighbours]] = True
    offered = np.array([crowd.number[peer.id] for peer in candidates], np.int64)
    taken = np.zeros(len(offered), np.bool_)
    boxes = Labels(crowd.boxes, own.d).boxes
    _select(boxes, own.d, crowd.number[own.id], members, offered, max_steps, most, taken)
    return (
        [candidates[c] for c in np.flatnonzero(taken).tolist()],
        {crowd.peers[x].id for x in np.flatnonzero(members)},
    )
