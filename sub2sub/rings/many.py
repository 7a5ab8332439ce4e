"""Figure 3 of Sub-2-Sub compiled by numba: for many candidates of one node, and for many nodes at once.

The functions do what those of `sub2sub.rings.plain` do. A box is a row (low, end, low, end, ...). They have
no expressions of whole arrays and no `min` or `max`, and they allocate nothing, all of which numba takes long
to compile: callers hand them the working memory that `room` makes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.plain_numba import jitted


class Room(NamedTuple):
    """Working memory of `needed`: pages that no candidate needs are never touched."""

    selected: NDArray[np.int64]
    parts: NDArray[np.float64]
    touching: NDArray[np.float64]
    stack: NDArray[np.float64]
    point: NDArray[np.float64]


def room(candidates: int, width: int) -> Room:
    """Working memory for so many candidates, whose boxes are rows of `width` numbers.

    Examples
    --------
    >>> room(10, 4).parts.shape
    (11, 4)
    """
    rows = candidates + 1
    return Room(
        np.empty(rows, np.int64), np.empty((rows, width)), np.empty((rows, width)),
        np.empty((2 * width * rows + 2, width)), np.empty(width),
    )  # fmt: skip


@jitted
def intersection(a, b, shared):
    """Write the box that two boxes share to `shared`; return its volume (0 or inf if rounded), or -1."""
    volume = 1.0
    for k in range(0, a.shape[0], 2):
        low = a[k] if a[k] > b[k] else b[k]
        end = a[k + 1] if a[k + 1] < b[k + 1] else b[k + 1]
        if low >= end:
            return -1.0
        shared[k], shared[k + 1] = low, end
        volume *= end - low
    return volume


@jitted
def uncovered(box, boxes, count, touching, stack):
    """Return the row of `stack` with a piece of a box that is in none of the first `count` others, or -1."""
    width, near, top, share, rest = box.shape[0], 0, 0, stack[-1], stack[-2]
    for b in range(count):
        if intersection(box, boxes[b], touching[near]) != -1.0:
            near += 1
    for k in range(width):
        stack[0, k] = box[k]
    while top >= 0:
        largest, most = -1, 0.0
        for b in range(near):
            volume = intersection(stack[top], touching[b], share)
            if volume > most or (largest < 0 and volume != -1.0):
                largest, most = b, volume
        if largest < 0:
            return top
        intersection(stack[top], touching[largest], share)
        for k in range(width):
            rest[k] = stack[top, k]
        top -= 1
        for k in range(width):  # what lies below the share (k even) or above it, along each attribute
            if rest[k] != share[k]:
                top += 1
                for j in range(width):
                    stack[top, j] = rest[j]
                stack[top, k ^ 1] = rest[k] = share[k]
    return -1


@jitted
def needed(own, boxes, order, near, room):
    """Select those of the first `near` boxes in `order` that contain a point of `own` which none before does.

    Writes them to `room.selected`, in this order, and returns how many they are. One point of `own` is always
    known that no selected box contains: a box that contains it is selected without a test for cover, and once
    there is no such point, nobody further away is needed.
    """
    selected, parts, touching, stack, point = room
    width, count = own.shape[0], 0
    for k in range(width):
        point[k] = own[k]
    for at in range(near):
        part = parts[count]
        if intersection(own, boxes[order[at]], part) == -1.0:
            continue
        has_point = True
        for k in range(0, width, 2):
            has_point &= part[k] <= point[k] and point[k] < part[k + 1]
        # A point that no selected box contains: of this part, or of the whole box now that the part is taken.
        box, before = (own, count + 1) if has_point else (part, count)
        piece = uncovered(box, parts, before, touching, stack)
        if piece >= 0 or has_point:
            selected[count] = order[at]
            count += 1
        if has_point:
            if piece < 0:
                break
            for k in range(width):
                point[k] = stack[piece, k]
    return count


@jitted
def needed_by_each(boxes, first, last, without, sizes, members, upwards, room):
    """Select successors and predecessors of nodes `first` to `last` among all nodes.

    The boxes are in ring order, and node `without` is left out. Row 2i of `sizes` becomes the number of
    successors of node first + i, row 2i + 1 that of its predecessors; `members` lists them one after the
    other. Returns the first node that `members` had no room for, or `last`.
    """
    n, total = boxes.shape[0], 0
    for node in range(first, last):
        near = 0
        for step in range(1, n):
            other = node + step if node + step < n else node + step - n
            if other != without and intersection(boxes[node], boxes[other], room[4]) != -1.0:
                upwards[near] = other
                near += 1
        if total + 2 * near > members.shape[0]:
            return node
        for way in range(2):
            count = needed(boxes[node], boxes, upwards, near, room)
            for i in range(count):
                members[total + i] = room[0][i]
            total += count
            sizes[2 * (node - first) + way] = count
            for i in range(near // 2):
                upwards[i], upwards[near - 1 - i] = upwards[near - 1 - i], upwards[i]
    return last
