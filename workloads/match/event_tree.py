"""Matches by a tree of the events: fast if subscriptions are narrow and match few events.

A k-d tree (J. L. Bentley, CACM 18(9), 1975, doi:10.1145/361002.361007). The events are halved repeatedly at
their median along one attribute, until a leaf holds at most 16. A subscription then descends only into the
halves that its range overlaps, and is compared with the events of those leaves. The time is about
subscriptions * log(events) if ranges are narrow.

All nodes of a level are halved along the same attribute: the one whose cells are the widest, relative to the
widths of the subscriptions. An attribute that most subscriptions leave open is not halved at all.
`leaves_reached` estimates from the same widths how many leaves a subscription reaches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sub2sub.compiled.machinery.compilation import kernel
from workloads.arrays import Floats, Integers, Names

LEAF = 16

_SAMPLED_EVENTS = 4096
_SAMPLED_BOXES = 512


def rank_widths(lows: Floats, highs: Floats, points: Floats) -> Floats:
    """The share of the events in the range of each box, along each attribute, for samples of both.

    Examples
    --------
    >>> rank_widths(np.array([[0.0, -np.inf]]), np.array([[1.0, np.inf]]), np.array([[0.5, 3.0], [2.0, 9.0]]))
    array([[0.5, 1. ]])
    """
    some = points[:: max(1, len(points) // _SAMPLED_EVENTS)]
    step = max(1, len(lows) // _SAMPLED_BOXES)
    widths = []
    for axis in range(points.shape[1]):
        values = np.sort(some[:, axis])
        began = np.searchsorted(values, lows[::step, axis], side="left")
        ended = np.searchsorted(values, highs[::step, axis], side="right")
        widths.append((ended - began) / max(1, len(values)))
    return np.stack(widths, axis=1)


def _levels(events: int) -> int:
    """How many times events are halved until a leaf holds at most LEAF."""
    return max(0, int(np.ceil(np.log2(max(1, events) / LEAF))))


def _halvings(widths: Floats, events: int) -> Integers:
    """The attribute along which each level is halved: the one with the widest cells, relative to boxes."""
    means = widths.sum(axis=0) / max(1, len(widths))
    cells = 1.0 / np.maximum(means, 1.0 / max(1, events))
    axes = np.empty(_levels(events), np.int64)
    for level in range(len(axes)):
        axes[level] = np.argmax(cells)
        cells[axes[level]] /= 2
    return axes


def leaves_reached(widths: Floats, events: int) -> float:
    """How many leaves a box reaches on average, if attributes are independent.

    Examples
    --------
    >>> leaves_reached(np.array([[0.25]]), 16 * 8), leaves_reached(np.array([[1.0, 1.0]]), 16 * 8)
    (3.0, 8.0)
    """
    axes = _halvings(widths, events)
    cells = 2.0 ** np.bincount(axes, minlength=widths.shape[1])
    reached = np.minimum(1 + widths * cells, cells).prod(axis=1)
    return float(reached.mean())


class _Tree(NamedTuple):
    """Node i has the children 2 i and 2 i + 1; the leaves are the last level, each a range of `points`."""

    points: Floats  # in the order of the leaves
    axes: Integers  # of each node
    splits: Floats  # of each node: no event on its left is above, none on its right below


class EventTree:
    """Closed boxes, and a tree of events.

    Examples
    --------
    >>> tree = EventTree(np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]]), np.array([[0.5], [0.2]]))
    >>> tree.count().tolist(), tree.first(np.array([7, 8])).tolist()
    ([2, 1], [7, 7])
    >>> sizes, members = tree.list(np.array([7, 8]))
    >>> members.tolist()
    [7, 8, 7]
    """

    def __init__(self, lows: Floats, highs: Floats, points: Floats) -> None:
        self.lows, self.highs = np.ascontiguousarray(lows), np.ascontiguousarray(highs)
        by_level = _halvings(rank_widths(lows, highs, points), len(points))
        axes = np.append(0, np.repeat(by_level, 2 ** np.arange(len(by_level))))
        self._order = np.arange(len(points))
        splits = np.zeros(len(axes))
        _halve_all(np.ascontiguousarray(points, np.float64), axes, splits, self._order)
        self._tree = _Tree(np.ascontiguousarray(points[self._order], np.float64), axes, splits)

    def count(self, enough: int | None = None) -> Integers:
        """How many boxes contain each event; `enough` is ignored, all are counted."""
        counts = np.zeros(len(self._order), np.int64)
        _count(self._tree, self.lows, self.highs, self._order, counts)
        return counts

    def first(self, names: Names) -> Names:
        """The name of the first box that contains each event; -1 if there is none."""
        found = np.full(len(self._order), -1, names.dtype)
        _first(self._tree, self.lows, self.highs, self._order, names, found)
        return found

    def list(self, names: Names) -> tuple[Integers, Names]:
        """How many boxes contain each event, and their names in rising order of boxes, event after event."""
        sizes = self.count()
        members = np.empty(int(sizes.sum()), names.dtype)
        _place(self._tree, self.lows, self.highs, self._order, names, np.cumsum(sizes) - sizes, members)
        return sizes, members


@kernel
def _halve_all(points, axes, splits, order):
    """Sort the events into the order of the leaves, and set the split of each node."""
    leaves, events = axes.shape[0], order.shape[0]
    level_size = 1
    while level_size < leaves:
        for number in range(level_size):
            node = level_size + number
            first, last = events * number // level_size, events * (number + 1) // level_size
            middle = events * (2 * number + 1) // (2 * level_size)
            _select(points[:, axes[node]], order, first, last - 1, middle)
            splits[node] = points[order[middle], axes[node]]
        level_size *= 2


@kernel
def _select(values, order, first, last, middle):
    """Hoare's selection: no value before `middle` is above its value, none after it is below."""
    while first < last:
        pivot = values[order[middle]]
        i, j = first, last
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if j < middle:
            first = i
        if middle < i:
            last = j


@kernel
def _find(tree, low, high, stack, found):
    """Write the positions of the events in a box to `found`, in leaf order; return their number."""
    events, d = tree.points.shape
    leaves = tree.axes.shape[0]
    count, top = 0, 1
    stack[0] = 1
    while top:
        top -= 1
        node = stack[top]
        while node < leaves:
            axis, split = tree.axes[node], tree.splits[node]
            right = split <= high[axis]
            if right and low[axis] <= split:
                stack[top] = 2 * node + 1
                top += 1
                right = False
            node = 2 * node + right
        first, last = events * (node - leaves) // leaves, events * (node - leaves + 1) // leaves
        for place in range(first, last):
            inside = True
            for axis in range(d):
                x = tree.points[place, axis]
                inside &= (low[axis] <= x) & (x <= high[axis])
            found[count] = place
            count += inside
    return count


@kernel
def _scratch(tree):
    """Scratch space of `_find`: nodes to visit later, and events found."""
    return np.empty(64, np.int64), np.empty(tree.points.shape[0] + 1, np.int64)


@kernel
def _count(tree, lows, highs, order, counts):
    stack, found = _scratch(tree)
    for box in range(lows.shape[0]):
        for k in range(_find(tree, lows[box], highs[box], stack, found)):
            counts[order[found[k]]] += 1


@kernel
def _first(tree, lows, highs, order, names, first):
    stack, found = _scratch(tree)
    for box in range(lows.shape[0]):
        for k in range(_find(tree, lows[box], highs[box], stack, found)):
            event = order[found[k]]
            if first[event] < 0:
                first[event] = names[box]


@kernel
def _place(tree, lows, highs, order, names, offsets, members):
    stack, found = _scratch(tree)
    for box in range(lows.shape[0]):
        for k in range(_find(tree, lows[box], highs[box], stack, found)):
            event = order[found[k]]
            members[offsets[event]] = names[box]
            offsets[event] += 1
