"""Is a box covered by a union of boxes? The question all ring selection comes down to.

Figure 3 of Sub-2-Sub (004) keeps the remainder `space` of a node's box after each selected neighbour and
asks whether the next candidate intersects it. Kept literally, the remainder shatters: 650,000 boxes for
one node with five attributes. The equivalent question needs no remainder: *is the candidate's part of the
node's box covered by the union of the nearer neighbours?* It is answered depth first: cut the largest
clipped neighbour out of the box, and ask again for each of the at most 2d pieces that are left. The first
piece that nothing touches is an answer; so is an empty stack.

Boxes are half-open, `box[0]` the low corner and `box[1]` the high corner, so that cutting is exact and the
low corner of an uncovered piece is a *witness*: a point of the box that no neighbour covers.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compilation import kernel

__all__ = ["clip", "covered", "stack_for"]


@kernel
def stack_for(boxes, d):
    """A stack deep enough for `covered` with that many boxes.

    Each cut removes one box from everything below it, and leaves at most 2d pieces.
    """
    return np.empty((2 * d * (boxes + 1) + 1, 2, d), np.float64)


@kernel
def clip(a, b, d, out):
    """Write the intersection of two boxes to `out`; whether it is not empty."""
    for k in range(d):
        low = max(a[0, k], b[0, k])
        high = min(a[1, k], b[1, k])
        if not low < high:
            return False
        out[0, k] = low
        out[1, k] = high
    return True


@kernel
def _largest_part(boxes, count, piece, d):
    """Index of the box whose part in `piece` is largest, relative to the piece; -1 if none touches it."""
    best, best_share = -1, -1.0
    for b in range(count):
        share = 1.0
        inside = True
        for k in range(d):
            low = max(boxes[b, 0, k], piece[0, k])
            high = min(boxes[b, 1, k], piece[1, k])
            if not low < high:
                share = -1.0
                break
            if low > piece[0, k] or high < piece[1, k]:
                inside = False
                share *= (high - low) / (piece[1, k] - piece[0, k])
        if share >= 0.0 or share != share:  # a width beyond the largest float gives NaN: still a part
            if inside:
                return b
            if best < 0 or share > best_share:
                best, best_share = b, share
    return best


@kernel
def covered(target, boxes, count, d, stack, max_steps, witness, used):
    """Whether `target` is covered by the union of boxes[:count].

    Parameters
    ----------
    target : (2, d) float64
    boxes : (>= count, 2, d) float64
    stack : from `stack_for(count, d)` or larger
    max_steps : int
        Give up after so many cuts; 0 for never.
    witness : (d,) float64, out
        A point of the target outside all boxes, when not covered.
    used : (2,) int64, out
        used[0]: highest index of a box that was cut out; used[1]: cuts made.

    Returns
    -------
    int
        1 covered, 0 not, -1 given up.
    """
    used[0], used[1] = -1, 0
    for k in range(d):
        stack[0, 0, k], stack[0, 1, k] = target[0, k], target[1, k]
    top = 1
    while top > 0:
        top -= 1
        piece = stack[top]
        b = _largest_part(boxes, count, piece, d)
        if b < 0:
            for k in range(d):
                witness[k] = piece[0, k]
            return 0
        used[0] = max(used[0], b)
        used[1] += 1
        if max_steps > 0 and used[1] > max_steps:
            return -1
        # What is left of `piece`: per attribute one slab below and one above the part cut out, written
        # above it on the stack; the piece shrinks to the part cut out as we go.
        first = top
        for k in range(d):
            low, high = piece[0, k], piece[1, k]
            cut_low, cut_high = max(low, boxes[b, 0, k]), min(high, boxes[b, 1, k])
            if low < cut_low:
                top += 1
                for m in range(d):
                    stack[top, 0, m], stack[top, 1, m] = piece[0, m], piece[1, m]
                stack[top, 1, k] = cut_low
            if cut_high < high:
                top += 1
                for m in range(d):
                    stack[top, 0, m], stack[top, 1, m] = piece[0, m], piece[1, m]
                stack[top, 0, k] = cut_high
            piece[0, k], piece[1, k] = cut_low, cut_high
        # The slabs stand at first + 1 .. top; the last moves to the place of the piece itself.
        if top > first:
            for m in range(d):
                stack[first, 0, m], stack[first, 1, m] = stack[top, 0, m], stack[top, 1, m]
    return 1
