"""Topic workloads in TOML.

[topics]
fanout = [10, 10, 5]        # a regular tree; or count = 1000 and max_depth = 8 for a random one;
                            # or file = "tree.csv", column = "topic"; or paths = [".", ".sport"]
exponent = 1.0              # Zipf's law of subscribers over topics
depth_bias = 1.5            # factor on a topic's share per level: above 1, special topics are preferred
event_exponent = 0.5        # Zipf's law of events
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError
from workloads.folder.topic_tables import read_topics
from workloads.generate.churn import Churn
from workloads.generate.topic_ranges import TopicRanges
from workloads.generate.topics import TopicSpec, random_tree, regular_tree
from workloads.settings.models import table
from workloads.settings.parameters import plain
from workloads.settings.reading import read

_TREES = ("fanout", "count", "file", "paths")
_COMPANIONS = {"max_depth": "count", "tree_seed": "count", "column": "file"}
_LAW = ("exponent", "depth_bias", "event_exponent")


@dataclass(frozen=True)
class TopicTable:
    """A tree of topics, given as one of `fanout`, `count`, `file` and `paths`, and how popular they are.

    Attributes
    ----------
    fanout : tuple of int
        Subtopics of the root, of each of those, and so on: a regular tree.
    count : int
        Topics of a random tree.
    max_depth : int
        Of a random tree; 8 if not given.
    tree_seed : int
        Random seed of a random tree; 0 if not given.
    file : path
        A table of topics.
    column : str
        Its column of paths; `topic` if not given.
    paths : tuple of str
        The topics themselves, such as `.` and `.sport`.
    exponent : float
        Of the subscribers' Zipf law; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth; above 1, special topics are preferred.
    event_exponent : float
        Of the events' Zipf law, over the same ranks.
    """

    fanout: tuple[int, ...] | None = None
    count: int | None = None
    max_depth: int | None = None
    tree_seed: int | None = None
    file: Path | None = None
    column: str | None = None
    paths: tuple[str, ...] | None = None
    exponent: float = 1.0
    depth_bias: float = 1.0
    event_exponent: float = 0.0
    spec: TopicSpec = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the topics, and refuse what makes none."""
        given = [key for key in _TREES if getattr(self, key) is not None]
        if len(given) != 1:
            raise InputError(f"topics: expected one of {', '.join(_TREES)}, got {', '.join(given) or 'none'}")
        for key, companion in _COMPANIONS.items():
            if getattr(self, key) is not None and companion not in given:
                raise InputError(f"{key}: expected only with {companion!r}")
        topics = TopicSpec(self._tree(), self.exponent, self.depth_bias, self.event_exponent)
        object.__setattr__(self, "spec", topics)

    def _tree(self) -> tuple[str, ...]:
        if self.file is not None:
            return tuple(read_topics(self.file, self.column or "topic"))
        if self.count is not None:
            depth = 8 if self.max_depth is None else self.max_depth
            return random_tree(self.count, depth, self.tree_seed or 0)
        return regular_tree(self.fanout) if self.fanout is not None else self.paths or ()

    @property
    def shape(self) -> dict[str, Any]:
        """What the tree was made from; the topics of a file themselves, so that a manifest says it all."""
        if self.file is not None:
            return {"paths": list(self.spec.topics)}
        given = ((key, getattr(self, key)) for key in (*_TREES, *_COMPANIONS))
        return {key: value for key, value in given if value is not None}


@dataclass(frozen=True)
class TopicWorkload:
    """A workload of topics.

    Attributes
    ----------
    topics : TopicTable
        The tree of topics, and how popular they are.
    name : str
        Of the workload; that of its file if not given.
    churn : Churn
        Arrivals and departures; if not given, all subscribers stay throughout.
    """

    topics: TopicTable
    name: str | None = None
    churn: Churn | None = None


def _ranges(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> TopicRanges:
    topics: TopicTable = values["topics"]
    name = values.get("name", context.get("name", "topics"))
    return TopicRanges.of(name, topics.spec, values.get("churn"), topics.shape)


TOPIC_WORKLOAD = table(TopicWorkload, make=_ranges)


def topic_workload(data: Mapping[str, Any], folder: Path | None = None) -> TopicRanges:
    """The topic workload that a dictionary describes.

    Examples
    --------
    >>> topic_workload({"name": "news", "topics": {"fanout": [2], "depth_bias": 2.0}}).topics.topics
    ('.', '.0', '.1')
    """
    return read(TOPIC_WORKLOAD, data, folder=folder)  # type: ignore[no-any-return]


def topic_dict(spec: TopicRanges) -> dict[str, Any]:
    """The dictionary of a topic workload."""
    law = {key: getattr(spec.topics, key) for key in _LAW}
    shape = {key: plain(value) for key, value in spec.shape.items()}
    turnover = {"churn": plain(spec.churn)} if spec.churn else {}
    return {
        "name": spec.name,
        "topics": shape | law,
    } | turnover
