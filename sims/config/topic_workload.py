"""Subscriptions to topics, as an experiment file describes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import NestedRanges, TopicTree
from sims.config.interests import USUAL_SIZE, Subscriptions, Topics
from sub2sub.errors import InputError
from workloads.generate.rows import uniforms
from workloads.generate.topic_ranges import TopicRanges
from workloads.generate.topics import TopicSpec, regular_tree
from workloads.settings.values import FileOrName
from workloads.spec.catalogue import resolve
from workloads.spec.table_files import is_stored, open_stored
from workloads.spec.types import ValueType


@dataclass(frozen=True)
class TopicWorkload:
    """The topics, and the subscriptions to them.

    Attributes
    ----------
    tree : tuple of int
        Subtopics of the root, of each of those, and so on.
    exponent : float
        Exponent of the Zipf distribution of subscribers over topics; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth.
    event_exponent : float
        Exponent of the Zipf distribution of events over topics.
    chain : tuple of int
        Instead of a tree: sizes of nested communities, the root's first; 10, 100, 1000 are the paper's.
        Events are then published in the last.
    spec : str
        Instead of a tree: a .toml file with `[topics]` (docs/workloads.md).
    table : path
        Instead of a tree: subscriptions to topics in a workload folder of topics, or in tables that a
        .toml file describes with `[table.topics]`. Every row is a subscriber, and the events are the table's
        own, or of topics drawn from the subscriptions.
    events : int
        Test events.
    """

    tree: tuple[int, ...] = (4, 4)
    exponent: float = 1.0
    depth_bias: float = 1.0
    event_exponent: float = 0.0
    chain: tuple[int, ...] = ()
    spec: FileOrName | None = None
    table: Path | None = None
    events: int = 100

    def __post_init__(self) -> None:
        if self.events < 1:
            raise InputError(f"workload.events: expected 1 or more, got {self.events}")
        if any(size < 1 for size in self.chain):
            raise InputError(f"chain: expected sizes of 1 or more, got {list(self.chain)}")
        if sum(given is not None for given in (self.spec, self.table)) + bool(self.chain) > 1:
            raise InputError("spec: expected one of spec, table and chain")
        if self.spec is not None and is_stored(Path(self.spec)):
            object.__setattr__(self, "table", Path(self.spec))
            object.__setattr__(self, "spec", None)
        if self.table is not None and not is_stored(self.table):
            raise InputError(f"table: expected a workload folder or a .toml file, got {self.table}")
        if self.table is None:
            self.topic_spec()

    def topic_spec(self) -> TopicSpec:
        """The topics, and how popular they are."""
        if self.spec is not None:
            found = resolve(self.spec)
            if not isinstance(found, TopicRanges) or found.churn is not None:
                raise InputError(f"spec: expected topics and no churn, got {self.spec}")
            return found.topics
        shape = (1,) * (len(self.chain) - 1) if self.chain else self.tree
        return TopicSpec(regular_tree(shape), self.exponent, self.depth_bias, self.event_exponent)

    def source(self, seed: int, size: int = 0) -> TopicSource:
        """The source of subscriptions (`size` rows, if from a table) and events."""
        return StoredTopics(self, size, seed) if self.table else TopicSource(self, seed)

    def load(self, size: int, seed: int) -> Subscriptions:
        """Subscriptions of that many subscribers (0: all, the chain's, or the usual number), and events."""
        source = self.source(seed, size)
        size = size or source.usual_size
        of, of_event = source.topics(0, size), source.events()
        points = source.ranges.bounds()[of_event, :1].astype(float)
        return Subscriptions(
            *source.rows(0, size), points, topics=Topics(source.ranges, of, of_event), source=source,
            types={"topic": ValueType("int")}, ring_ids=source.ids, keys=source.keys,
        )  # fmt: skip


class TopicSource:
    """Topics of subscribers as ranges, and topics of events.

    Attributes
    ----------
    ranges : NestedRanges
        Their topics have the numbers of the spec's.
    """

    ids: NDArray[np.int64] | None = None
    keys: list[str] | None = None

    def __init__(self, workload: TopicWorkload, seed: int) -> None:
        self.workload, self.spec, self.seed = workload, workload.topic_spec(), seed
        self.usual_size = sum(workload.chain) or USUAL_SIZE
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


class StoredTopics(TopicSource):
    """Topics of a stored table: a row for each subscriber; a random sample if fewer are asked for."""

    def __init__(self, workload: TopicWorkload, size: int, seed: int) -> None:
        assert workload.table is not None
        self.workload, self.seed = workload, seed
        self.stored = open_stored(workload.table)
        if self.stored.topics is None:
            raise InputError(f"table: expected topics, got ranges of {', '.join(self.stored.names)}")
        self.usual_size = len(self.stored)
        self.ranges = NestedRanges(TopicTree.numbered(self.stored.topics))
        order = self.stored.order(seed, size or len(self.stored))
        self._topic: NDArray[np.int64] = self.stored.lows[order, 0].astype(np.int64)
        ids, keys = self.stored.ring_ids, self.stored.keys
        self.ids = None if ids is None else ids[order[: size or None]]
        self.keys = None if keys is None else [keys[row] for row in order.tolist()]

    def topics(self, start: int, stop: int) -> NDArray[np.int64]:
        """Numbers of the topics that the subscribers [start, stop) want; each row is used once."""
        if stop > self.usual_size:
            raise InputError(
                f"{self.stored.name} has {self.usual_size} subscriptions, each used once: expected at most "
                f"as many subscribers, got {stop}"
            )
        return self._topic[start:stop]

    def events(self) -> NDArray[np.int64]:
        """The first events of the table; if it has none, events of topics drawn from the subscriptions."""
        if len(self.stored.points):
            return self.stored.points[: self.workload.events, 0].astype(np.int64)
        drawn = uniforms(self.seed, "event/row", 0, self.workload.events)
        return self._topic[(drawn * len(self._topic)).astype(np.int64)]
