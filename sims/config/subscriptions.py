"""The input of a system: subscriptions, and the events that will be published.

A subscriber is a number from 0 to n - 1 and one box, closed on both ends. A peer starts with its own
subscription and one contact. It does not know the events (`points`) beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers
from workloads.spec.types import ValueType

if TYPE_CHECKING:
    from hierarchy.topics import NestedRanges


class Source(Protocol):
    """Any number of subscriptions."""

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""


@dataclass(frozen=True)
class Topics:
    """The topics of subscribers and events, if interests are topics.

    Attributes
    ----------
    ranges : NestedRanges
        The tree, and the range of each topic.
    of : (n,) int64
        The topic of each subscriber.
    of_event : (m,) int64
        The topic of each event.
    """

    ranges: NestedRanges
    of: Integers
    of_event: Integers


class Ranges:
    """Closed ranges, a row for each subscriber."""

    lows: Floats

    @property
    def n(self) -> int:
        """Subscribers."""
        return len(self.lows)

    @property
    def d(self) -> int:
        """Attributes."""
        return int(self.lows.shape[1])


@dataclass(frozen=True)
class Subscriptions(Ranges):
    """Interests and events.

    Attributes
    ----------
    lows, highs : (n, d) float64
        Closed ranges.
    points : (m, d) float64
        Events.
    bits : int
        Attributes have whole values from 0 to 2^bits - 1 if dyadic topics have to be exact; otherwise 0.
    topics : Topics, optional
        If interests are topics.
    source : object with `rows`, optional
        The subscriptions of newcomers.
    types : mapping, optional
        Attribute to its type, in the order of the axes.
    ring_ids : (n,) int64, optional
        Sequence IDs of 63 bits, of workloads that have them; drawn by the seed otherwise.
    keys : list of str, optional
        Names of the subscribers.
    hosts : (n,) int64, optional
        Who each row belongs to, where rows are memberships, which keep their numbers.

    Examples
    --------
    >>> wanted = Subscriptions(np.array([[0.0], [2.0]]), np.array([[4.0], [9.0]]), np.array([[3.0]]))
    >>> wanted.n, wanted.d
    (2, 1)
    """

    lows: Floats
    highs: Floats
    points: Floats
    bits: int = 0
    topics: Topics | None = None
    source: Source | None = None
    types: Mapping[str, ValueType] = field(default_factory=dict)
    ring_ids: Integers | None = None
    keys: list[str] | None = None
    hosts: Integers | None = None

    @property
    def ids(self) -> NDArray[np.uint64] | None:
        """Sequence IDs on the whole ring of 64 bits, in the workload's order."""
        return None if self.ring_ids is None else self.ring_ids.astype(np.uint64) << np.uint64(1)

    @property
    def tree(self) -> Topics:
        """The topics; refused if interests are ranges."""
        if self.topics is None:
            raise InputError("workload: expected topics, got ranges")
        return self.topics

    def rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Further subscriptions."""
        if self.source is None:
            raise InputError("workload: expected subscriptions for newcomers, it has none")
        return self.source.rows(start, stop)
