"""The condensation function: a table becomes a line of the next level (hpmcast, Sections 4.2.2, 6.1.1).

A line describes one subsystem (in the table of level 1, one participant) by three things: its joint interest,
its number of participants, and its delegates. The number is a sum. Regrouping interests and electing
delegates are the kernels of this module; exact views and the membership protocol both use them.

*Regroup.* A joint interest is at most K boxes, half-open as everywhere (`sub2sub.geometry.boxes`). A box
inside another is dropped, two boxes whose union is a box are joined, and if more than K are left, the two
whose bounding box adds the least volume are replaced by it. The filter is weaker than the union (filter
coverage), never stronger: every event for a participant below passes. K is set per level, and so are the
attributes that are compared (the paper's selective comparisons and, with none, type conformance).

*Elect.* The R participants with the smallest rank, by default the smallest addresses; or those whose own
interest covers most of the joint one, so that they forward fewer events only for others.

Differences from the paper: it requires a conjunction of patterns, but several subscribers are represented by
a disjunction. Coverage is computed for each candidate alone, not for sets of candidates.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.machinery.compilation import kernel


@kernel
def _covers(outer, inner):
    for k in range(outer.shape[1]):  # noqa: SIM110 - numba has no generators
        if inner[0, k] < outer[0, k] or inner[1, k] > outer[1, k]:
            return False
    return True


@kernel
def _joins_exactly(a, b):
    """Whether the union of two boxes is a box: they differ in one attribute only, and touch there."""
    axis = -1
    for k in range(a.shape[1]):
        if a[0, k] != b[0, k] or a[1, k] != b[1, k]:
            if axis >= 0:
                return False
            axis = k
    return axis < 0 or max(a[0, axis], b[0, axis]) <= min(a[1, axis], b[1, axis])


@kernel
def copy_box(box, target):
    """Copy the bounds one by one; assigning a whole box is far slower to compile."""
    for k in range(box.shape[1]):
        target[0, k], target[1, k] = box[0, k], box[1, k]


@kernel
def _widen(box, other):
    for k in range(box.shape[1]):
        box[0, k] = min(box[0, k], other[0, k])
        box[1, k] = max(box[1, k], other[1, k])


@kernel
def _waste(a, b, whole):
    """Volume that the bounding box adds to two boxes, relative to `whole`; halved widths cannot overflow."""
    joint, first, second, shared = 1.0, 1.0, 1.0, 1.0
    for k in range(a.shape[1]):
        unit = whole[1, k] / 2 - whole[0, k] / 2
        joint *= (max(a[1, k], b[1, k]) / 2 - min(a[0, k], b[0, k]) / 2) / unit
        first *= (a[1, k] / 2 - a[0, k] / 2) / unit
        second *= (b[1, k] / 2 - b[0, k] / 2) / unit
        shared *= max(0.0, min(a[1, k], b[1, k]) / 2 - max(a[0, k], b[0, k]) / 2) / unit
    return joint - first - second + shared


@kernel
def _cheapest_pair(boxes, used):
    whole = np.empty(boxes.shape[1:])
    copy_box(boxes[0], whole)
    for b in range(1, used):
        _widen(whole, boxes[b])
    best, left, right = np.inf, 0, 1
    for a in range(used - 1):
        for b in range(a + 1, used):
            waste = _waste(boxes[a], boxes[b], whole)
            if waste < best:
                best, left, right = waste, a, b
    return left, right


@kernel
def _drop(boxes, used, b):
    for k in range(b, used - 1):
        copy_box(boxes[k + 1], boxes[k])
    return used - 1


@kernel
def include(boxes, used, most, box):
    """Add one box to a joint interest of `used` boxes and keep at most `most`; returns their number.

    `boxes` (at least most + 1, 2, d) is changed in place, and so is `box` (2, d).
    """
    while True:
        for b in range(used):
            if _covers(boxes[b], box):
                return used
        b = np.int64(0)
        while b < used:
            if _covers(box, boxes[b]):
                used = _drop(boxes, used, b)
            elif _joins_exactly(boxes[b], box):
                _widen(box, boxes[b])
                used = _drop(boxes, used, b)
                b = 0  # the box has grown: compare all of them again
            else:
                b += 1
        copy_box(box, boxes[used])
        used += 1
        if used <= most:
            return used
        left, right = _cheapest_pair(boxes, used)
        copy_box(boxes[left], box)
        _widen(box, boxes[right])
        used = _drop(boxes, used, right)
        used = _drop(boxes, used, left)


@kernel
def line_matches(boxes, used, compared, event):
    """Whether an event passes a line's filter, by the attributes that are compared at its level."""
    for b in range(used):
        inside = True
        for k in range(event.shape[0]):
            if compared[k] and not (boxes[b, 0, k] <= event[k] < boxes[b, 1, k]):
                inside = False
                break
        if inside:
            return True
    return False


@kernel
def coverage_score(own, boxes, used, compared):
    """The mean share of a line's boxes that a participant's own box covers, on the compared attributes."""
    total = 0.0
    for b in range(used):
        share = 1.0
        for k in range(own.shape[1]):
            if compared[k]:
                low, high = max(own[0, k], boxes[b, 0, k]), min(own[1, k], boxes[b, 1, k])
                width = boxes[b, 1, k] / 2 - boxes[b, 0, k] / 2
                if low >= high:
                    share = 0.0
                elif width > 0.0:
                    share *= (high / 2 - low / 2) / width
        total += share
    return total / max(used, 1)


@kernel
def elect(candidates, size, rank, delegates):
    """Write the best of `size` candidates to `delegates`: least rank first, then the smaller number.

    `rank` has one number per candidate, not per participant. Unused entries of `delegates` are -1.
    """
    most = delegates.shape[0]
    best = np.empty(most, np.float64)
    held = 0
    for c in range(size):
        place = held
        while place > 0 and (
            rank[c] < best[place - 1] or (rank[c] == best[place - 1] and candidates[c] < delegates[place - 1])
        ):
            place -= 1
        if place == most:
            continue
        held = min(held + 1, most)
        for k in range(held - 1, place, -1):
            delegates[k], best[k] = delegates[k - 1], best[k - 1]
        delegates[place], best[place] = candidates[c], rank[c]
    for k in range(held, most):
        delegates[k] = -1
