"""Topics as nested ranges of integers, so that a topic subscription is a range subscription.

A topic owns a half-open range of whole numbers, its subtopics own disjoint ranges inside it, and its
events are the first number of the range, which no subtopic ever owns. Then *u includes t* exactly when
the range of u contains the range of t, and an event of t lies in the ranges of t and of its supertopics
and in no other. All numbers are below 2^53, so they stay exact as floats.

Subtopics are counted from k = 0. The k-th subtopic added below a topic gets 1/(k+2) of the numbers that are
still free there: the first gets half, and none gets less than about 1/k^2 of the whole. Deep trees and wide
trees can therefore grow for long before any range moves. When a topic is full, the smallest enclosing subtree
with enough room is laid out again: each of its topics gets the same free space, and `add` reports the ranges
that moved. The numbers of a removed topic become free only at the next such layout, because a late event of
a removed topic must not match a new one.

A topic with several parents has its range inside the range of the first. Subscribers of any further parent,
and of all topics that include it, subscribe to that range in addition to their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics.tree import TopicTree
from sub2sub.errors import InputError

SPAN = 2**53
SPACIOUS = 2**16  # numbers per topic of a subtree that can be laid out again: 16 levels or 255 subtopics


class Added(NamedTuple):
    """Result of `NestedRanges.add`: the new topic's number, and (old, new) ranges of topics that moved."""

    topic: int
    moved: dict[int, tuple[tuple[int, int], tuple[int, int]]]


class NestedRanges:
    """Ranges for the topics of a tree, updated when topics are added or removed.

    Parameters
    ----------
    tree : TopicTree
        Add and remove topics through this object from now on, not through the tree.
    span : int
        Number of integers that the root owns, at most 2^53.

    Examples
    --------
    >>> tree = TopicTree.from_paths([".soccer.italy", ".tennis"])
    >>> ranges = NestedRanges(tree, span=1000)
    >>> [(tree.name(t), ranges.range(t)) for t in tree]
    [('.', (0, 1000)), ('.soccer', (1, 501)), ('.tennis', (501, 751)), ('.soccer.italy', (2, 252))]
    >>> ranges.topic_at(ranges.point(".soccer.italy")) == tree.number(".soccer.italy")
    True
    >>> ranges.add(".tennis.paris")
    Added(topic=4, moved={})
    """

    def __init__(self, tree: TopicTree, span: int = SPAN) -> None:
        if not len(tree) <= span <= SPAN:
            raise InputError(f"span: expected a number from {len(tree)} (the topics) to 2^53, got {span}")
        self.tree = tree
        capacity = tree.capacity
        self._low = [0] * capacity
        self._high = [0] * capacity
        self._free = [0] * capacity  # first number that no subtopic owns or owned
        self._given = [0] * capacity  # subtopics placed since the last layout
        self._size = [0] * capacity  # topics in the subtree
        for topic in reversed(list(tree)):
            self._size[topic] += 1
            if topic:
                self._size[tree.parents(topic)[0]] += self._size[topic]
        self._high[0] = span
        self._lay_out(0)

    def range(self, topic: str | int) -> tuple[int, int]:
        """Half-open range of a topic: its own events and those of the subtopics below it in the tree."""
        t = self.tree.number(topic)
        return self._low[t], self._high[t]

    def ranges(self, topic: str | int) -> NDArray[np.int64]:
        """All half-open ranges whose events a subscriber of `topic` receives: disjoint, one per row.

        There is one row, unless the topic includes others through further parents.
        """
        t = self.tree.number(topic)
        rows = [self.range(t)]
        if self.tree.has_further_parents:
            below = {t, *self.tree.subtopics_below(t)}
            rows += [self.range(s) for s in sorted(below - {t}) if self.tree.parents(s)[0] not in below]
        return np.array(rows, np.int64)

    def closed_ranges(self, topic: str | int) -> NDArray[np.float64]:
        """The same ranges as closed ranges [low, high], to use as predicates on a float attribute."""
        closed: NDArray[np.float64] = self.ranges(topic).astype(np.float64)
        closed[:, 1] -= 1
        return closed

    def point(self, topic: str | int) -> int:
        """The number that represents an event of `topic`."""
        return self._low[self.tree.number(topic)]

    def topic_at(self, point: int) -> int:
        """Number of the topic with the smallest range that contains `point`: the topic of that event."""
        if not self._low[0] <= point < self._high[0]:
            raise InputError(f"point: expected a number in [0, {self._high[0]}), got {point}")
        topic, below = 0, self.tree.children(0)
        while below:
            # Subtopics are sorted by their ranges: only the last that starts before the point may contain it.
            place = bisect_right(below, point, key=self._low.__getitem__) - 1
            if place < 0 or self._high[below[place]] <= point:
                break
            topic = below[place]
            below = self.tree.children(topic)
        return topic

    def bounds(self) -> NDArray[np.int64]:
        """Range of every topic number as rows (low, high); (0, 0) for removed topics."""
        return np.array([self._low, self._high], np.int64).T

    def add(self, name: str, parents: Sequence[str | int] | None = None) -> Added:
        """Add a topic as `TopicTree.add` does, and give it a range."""
        topic = self.tree.add(name, parents)
        for column in (self._low, self._high, self._free, self._given, self._size):
            column.append(0)
        ancestors = self.tree.spanning_path(topic)
        for t in ancestors:
            self._size[t] += 1
        parent = ancestors[1]
        if self._free[parent] < self._high[parent]:
            share = max(1, (self._high[parent] - self._free[parent]) // (self._given[parent] + 2))
            self._place(topic, self._free[parent], share)
            self._free[parent] += share
            self._given[parent] += 1
            return Added(topic, {})
        try:
            top = self._smallest_spacious(ancestors[1:])
        except InputError:
            self.remove(topic)
            raise
        before = {t: self.range(t) for t in self._subtree(top) if t != topic}
        self._lay_out(top)
        return Added(topic, {t: (old, self.range(t)) for t, old in before.items() if old != self.range(t)})

    def remove(self, topic: str | int) -> None:
        """Remove a topic without subtopics; no other range moves."""
        t = self.tree.number(topic)
        ancestors = self.tree.spanning_path(t)
        self.tree.remove(t)
        for above in ancestors:
            self._size[above] -= 1
        self._low[t] = self._high[t] = self._free[t] = 0

    def move(self, topic: str | int, parent: str | int) -> None:
        """Move a topic with its subtopics below another, which must not be one of them.

        The ranges of its subtree move, and no others if the new parent has room for it. The old numbers
        become free at the next layout.

        Examples
        --------
        >>> ranges = NestedRanges(TopicTree.from_paths([".soccer.italy", ".tennis"]), span=1000)
        >>> ranges.move(".soccer", ".tennis")
        >>> ranges.range(".tennis"), ranges.range(".soccer"), ranges.range(".soccer.italy")
        ((501, 751), (502, 626), (503, 565))
        """
        t, p = self.tree.number(topic), self.tree.number(parent)
        ancestors = self.tree.spanning_path(t)[1:]
        self.tree.move(t, p)
        for above in ancestors:
            self._size[above] -= self._size[t]
        for above in self.tree.spanning_path(p):
            self._size[above] += self._size[t]
        share = (self._high[p] - self._free[p]) // (self._given[p] + 2)
        if share < 2 * self._size[t]:
            self._lay_out(0)
            return
        self._place(t, self._free[p], share)
        self._free[p] += share
        self._given[p] += 1
        self._lay_out(t)

    def _subtree(self, top: int) -> list[int]:
        found = [top]
        for topic in found:
            found += self.tree.children(topic)
        return found

    def _smallest_spacious(self, ancestors: list[int]) -> int:
        for topic in ancestors:
            if self._high[topic] - self._low[topic] >= SPACIOUS * self._size[topic]:
                return topic
        if self._high[0] < 2 * self._size[0]:
            raise InputError(
                f"span: {self._high[0]} numbers are too few for {self._size[0]} topics, expected two a topic"
            )
        return 0

    def _place(self, topic: int, low: int, width: int) -> None:
        self._low[topic], self._high[topic] = low, low + width
        self._free[topic] = low + 1
        self._given[topic] = 0

    def _lay_out(self, top: int) -> None:
        """Lay out a subtree again within its range; every topic gets the same number of own numbers."""
        low, width = self._low[top], self._high[top] - self._low[top]
        unit = width // self._size[top]
        self._place(top, low, width)
        for topic in self._subtree(top):
            for child in self.tree.children(topic):
                share = unit * self._size[child]
                self._place(child, self._free[topic], share)
                self._free[topic] += share
                self._given[topic] += 1
