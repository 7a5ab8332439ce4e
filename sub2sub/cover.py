"""Is a box covered by a union of boxes? The question all ring selection comes down to.

Figure 3 of Sub-2-Sub (004) keeps the remainder `space` of a node's box after each selected neighbour and
asks whether the next candidate intersects it. Kept literally, the remainder shatters: 650,000 boxes for
one node with five attributes. The equivalent question needs no remainder: *is the candidate's part of the
node's box covered by the union of the nearer neighbours?* It is answered depth first: cut the largest
clipped neighbour out of the box, and ask again for each of the at most 2d pieces that are left. The first
piece that nothing touches is an answer; so is an empty stack.

Boxes are half-open and packed (`sub2sub.proximity.packed_boxes`): `box[0]` is the low corner and `box[1]` the
high corner, padded to a width of whole vectors. So cutting is exact, and the low corner of an uncovered piece is a *witness*: a point of the box that no neighbour covers.
"""

from __future__ import annotations

import numpy as np

from sub2sub.boxlanes import HUGE, common_part
from sub2sub.compilation import hot, kernel, rule
from sub2sub.lanes import ATTRIBUTES

__all__ = ["clip", "covered", "stack_for"]


@kernel
def stack_for(boxes, width):
    """A stack deep enough for `covered` with that many boxes.

    Each cut removes one box from everything below it, and leaves at most two pieces per attribute.
    """
    return np.empty((2 * width * (boxes + 1) + 1, 2, width), np.float64)


@rule
def clip(a, b, width, out):
    """Write the intersection of two boxes to `out`; whether it is not empty."""
    for k in range(width):
        low = max(a[0, k], b[0, k])
        high = min(a[1, k], b[1, k])
        if not low < high:
            return False
        out[0, k] = low
        out[1, k] = high
    return True


@rule
def _largest_part(boxes, chosen, count, stack, top, width):
    """The chosen box that shares most with a piece; -1 if none shares anything."""
    best, most = np.int64(-1), -1.0
    for c in range(count):
        box = np.int64(chosen[c])
        share = common_part(boxes, box * 2 * width, stack, top * 2 * width, width)
        for k in range(ATTRIBUTES, width, ATTRIBUTES):
            more = common_part(boxes, box * 2 * width + k, stack, top * 2 * width + k, width)
            if more < 0.0:
                share = -1.0
            elif share >= 0.0 and not (share == np.inf and more == np.inf):
                # Whole along these attributes only: any finite number stands for that as well.
                share = min((1.0 if share == np.inf else share) * (1.0 if more == np.inf else more), HUGE)
        if share == -1.0:
            continue
        if share == np.inf:
            return box
        if best < 0 or share > most:
            best, most = box, share
    return best


@hot
def covered(target, boxes, chosen, count, width, stack, max_steps, witness, used):
    """Whether `target` is covered by the union of the chosen boxes.

    Parameters
    ----------
    target : (2, width) float64
    boxes : (n, 2, width) float64
    chosen : (>= count,) int64
        The first `count` are indices into the boxes.
    stack : from `stack_for(count, width)` or larger
    max_steps : int
        Give up after so many cuts; 0 for never.
    witness : (width,) float64, out
        A point of the target outside all boxes, when not covered.
    used : (3,) int64, out
        Lowest and highest index of a box that was cut out, and the number of cuts.

    Returns
    -------
    int
        1 covered, 0 not, -1 given up.
    """
    used[0], used[1], used[2] = boxes.shape[0], -1, 0
    for k in range(width):
        stack[0, 0, k], stack[0, 1, k] = target[0, k], target[1, k]
    top = 1
    while top > 0:
        top -= 1
        b = _largest_part(boxes, chosen, count, stack, top, width)
        if b < 0:
            for k in range(width):
                witness[k] = stack[top, 0, k]
            return 0
        used[0], used[1] = min(used[0], b), max(used[1], b)
        used[2] += 1
        if max_steps > 0 and used[2] > max_steps:
            return -1
        # What is left of the piece: per attribute one slab below and one above the part cut out, written
        # above it on the stack; the piece shrinks to the part cut out as we go.
        first = top
        for k in range(width):
            low, high = stack[first, 0, k], stack[first, 1, k]
            cut_low, cut_high = max(low, boxes[b, 0, k]), min(high, boxes[b, 1, k])
            if low < cut_low:
                top += 1
                for m in range(width):
                    stack[top, 0, m], stack[top, 1, m] = stack[first, 0, m], stack[first, 1, m]
                stack[top, 1, k] = cut_low
            if cut_high < high:
                top += 1
                for m in range(width):
                    stack[top, 0, m], stack[top, 1, m] = stack[first, 0, m], stack[first, 1, m]
                stack[top, 0, k] = cut_high
            stack[first, 0, k], stack[first, 1, k] = cut_low, cut_high
        # The slabs stand at first + 1 .. top; the last moves to the place of the piece itself.
        if top > first:
            for m in range(width):
                stack[first, 0, m], stack[first, 1, m] = stack[top, 0, m], stack[top, 1, m]
    return 1
