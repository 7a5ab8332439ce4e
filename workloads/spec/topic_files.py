"""Topic workloads in TOML.

[topics]
fanout = [10, 10, 5]        # a regular tree; or count = 1000 and max_depth = 8 for a random one;
                            # or file = "tree.csv", column = "topic"; or paths = [".", ".sport"]
exponent = 1.0              # of the Zipf law of subscribers over topics
depth_bias = 1.5            # factor on a topic's share per level of depth: above 1, deep topics are preferred
event_exponent = 0.5        # of the Zipf law of events
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError
from workloads.folder.pieces import refuse
from workloads.folder.topic_tables import read_tree
from workloads.generate.churn import Churn
from workloads.generate.topic_ranges import TopicRanges
from workloads.generate.topics import TopicSpec, random_tree, regular_tree
from workloads.settings.models import table

_TREES = ("fanout", "count", "file", "paths")
_COMPANIONS = {"max_depth": "count", "tree_seed": "count", "column": "file"}


@dataclass(frozen=True)
class TopicTable:
    """A tree of topics, given as one of `fanout`, `count`, `file` and `paths`, and the topics' popularity.

    Attributes
    ----------
    fanout : tuple of int
        Number of subtopics of the root, of each of its subtopics, and so on: a regular tree.
    count : int
        Number of topics of a random tree.
    max_depth : int
        Depth of a random tree; 8 if not given.
    tree_seed : int
        Random seed of a random tree; 0 if not given.
    file : path
        A table of topics.
    column : str
        Its column of paths; `path` or `topic` if not given.
    paths : tuple of str
        The topics, such as `.` and `.sport`.
    exponent : float
        Exponent of the Zipf law of subscribers over topics; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth; above 1, deep topics are preferred.
    event_exponent : float
        Exponent of the Zipf law of events over topics, with the same ranks.
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
        """Refuse contradictory settings, and make the topics."""
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
            paths, against = read_tree(self.file, self.column)
            refuse("topics", against)
            return tuple(paths)
        if self.count is not None:
            depth = 8 if self.max_depth is None else self.max_depth
            return random_tree(self.count, depth, self.tree_seed or 0)
        return regular_tree(self.fanout) if self.fanout is not None else self.paths or ()


@dataclass(frozen=True)
class TopicWorkload:
    """A workload of topics.

    Attributes
    ----------
    topics : TopicTable
        The tree of topics, and their popularity.
    name : str
        Name of the workload; by default the name of its file.
    churn : Churn
        Joins and leaves; if not given, all subscribers stay throughout.
    """

    topics: TopicTable
    name: str | None = None
    churn: Churn | None = None


def _ranges(values: dict[str, Any], given: Mapping[str, Any], context: Mapping[str, Any]) -> TopicRanges:
    topics: TopicTable = values["topics"]
    name = values.get("name", context.get("name", "topics"))
    return TopicRanges.of(name, topics.spec, values.get("churn"))


TOPIC_WORKLOAD = table(TopicWorkload, make=_ranges)
