"""Topics and who subscribes to which, as an experiment file describes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import NestedRanges, TopicTree
from sims.config.interests import USUAL_SIZE
from sims.systems.subscriptions import Subscriptions, Topics
from sub2sub.errors import InputError
from workloads.generate.topics import TopicSpec, regular_tree

__all__ = ["TopicSource", "TopicWorkload"]


@dataclass(frozen=True)
class TopicWorkload:
    """Which topics there are, and who subscribes to which.

    Attributes
    ----------
    tree : tuple of int
        Subtopics of the root, of each of those, and so on.
    exponent : float
        Of the Zipf law of subscribers over topics; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth.
    event_exponent : float
        Of the Zipf law of events over topics.
    chain : tuple of int
        Instead of a tree: sizes of nested communities, the root's first; 10, 100, 1000 are the paper's.
        Events are then published in the last.
    events : int
        Test events.
    """

    tree: tuple[int, ...] = (4, 4)
    exponent: float = 1.0
    depth_bias: float = 1.0
    event_exponent: float = 0.0
    chain: tuple[int, ...] = ()
    events: int = 100

    def __post_init__(self) -> None:
        """Refuse trees that cannot be."""
        if self.events < 1:
            raise InputError(f"workload.events: expected 1 or more, got {self.events}")
        if any(size < 1 for size in self.chain):
            raise InputError(f"chain: expected sizes of 1 or more, got {list(self.chain)}")
        self.spec()

    def spec(self) -> TopicSpec:
        """The topics, and how popular they are."""
        shape = (1,) * (len(self.chain) - 1) if self.chain else self.tree
        return TopicSpec(regular_tree(shape), self.exponent, self.depth_bias, self.event_exponent)

    def source(self, seed: int) -> TopicSource:
        """Where subscriptions and events come from."""
        return TopicSource(self, seed)

    def load(self, size: int, seed: int) -> Subscriptions:
        """Subscriptions of that many subscribers (0: the chain's, or the usual number), and test events."""
        source = self.source(seed)
        size = size or sum(self.chain) or USUAL_SIZE
        of, of_event = source.topics(0, size), source.events()
        points = source.ranges.bounds()[of_event, :1].astype(float)
        return Subscriptions(
            *source.rows(0, size), points, topics=Topics(source.ranges, of, of_event), source=source
        )


class TopicSource:
    """Topics of subscribers as ranges, and topics of events.

    Attributes
    ----------
    ranges : NestedRanges
        Their topics have the numbers of the spec's.
    """

    def __init__(self, workload: TopicWorkload, seed: int) -> None:
        self.workload, self.spec, self.seed = workload, workload.spec(), seed
        self.ranges = NestedRanges(TopicTree.numbered(self.spec.topics))

    def topics(self, start: int, stop: int) -> NDArray[np.int64]:
        """Numbers of the topics that the subscribers [start, stop) want."""
        if self.workload.chain:
            ends = np.cumsum(self.workload.chain)
            place: NDArray[np.int64] = np.searchsorted(ends, np.arange(start, stop) % ends[-1], side="right")
            return place
        return self.spec.subscriptions(stop - start, self.seed, start)

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Closed ranges of the subscriptions [start, stop)."""
        bounds = self.ranges.bounds()[self.topics(start, stop)].astype(float)
        return bounds[:, :1], bounds[:, 1:] - 1

    def events(self) -> NDArray[np.int64]:
        """Numbers of the topics of the test events."""
        if self.workload.chain:
            return np.full(self.workload.events, len(self.spec.topics) - 1)
        return self.spec.events(self.workload.events, self.seed)
