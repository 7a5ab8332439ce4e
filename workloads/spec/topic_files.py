"""Topic workloads and churn in TOML.

[topics]
fanout = [10, 10, 5]        # a regular tree; or count = 1000 and max_depth = 8 for a random one;
                            # or file = "tree.csv", column = "topic"; or paths = [".", ".sport"]
exponent = 1.0              # Zipf's law of subscribers over topics
depth_bias = 1.5            # factor on a topic's share per level: above 1, special topics are preferred
event_exponent = 0.5        # Zipf's law of events
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError
from workloads.folder.foreign import read_topics
from workloads.generate.churn import Churn
from workloads.generate.topic_ranges import TopicRanges
from workloads.generate.topics import TopicSpec, random_tree, regular_tree
from workloads.spec.fields import UnknownKey, file_of, known

__all__ = ["churn", "topic_dict", "topic_workload"]

_TREES = ("fanout", "count", "file", "paths")
_LAW = ("exponent", "depth_bias", "event_exponent")


def churn(data: Any) -> Churn:
    """The churn that a table describes.

    Examples
    --------
    >>> churn({"session": 50, "absence": 10}).session
    50
    """
    return Churn(**known(Churn, data, "churn"))


def topic_workload(data: Mapping[str, Any], folder: Path | None = None) -> TopicRanges:
    """The topic workload that a dictionary describes.

    Examples
    --------
    >>> topic_workload({"name": "news", "topics": {"fanout": [2], "depth_bias": 2.0}}).topics.topics
    ('.', '.0', '.1')
    """
    for key in data:
        if key not in ("name", "topics", "churn"):
            raise UnknownKey(key, "topic workload", ("name", "topics", "churn"))
    table = data["topics"]
    law = known(TopicSpec, table, "topics", also=(*_TREES, "column", "max_depth", "tree_seed"))
    if "topics" in law:
        raise InputError("topics.topics: expected 'paths'")
    shape = {key: value for key, value in table.items() if key not in law}
    given = [key for key in _TREES if key in shape]
    if len(given) != 1:
        raise InputError(f"topics: expected one of {', '.join(_TREES)}, got {', '.join(given) or 'none'}")
    tree = _tree(given[0], shape, folder)
    if given[0] == "file":
        shape = {"paths": list(tree)}  # so that the manifest says it all
    turnover = churn(data["churn"]) if "churn" in data else None
    return TopicRanges.of(str(data["name"]), TopicSpec(tree, **law), turnover, shape)


def _tree(kind: str, shape: Mapping[str, Any], folder: Path | None) -> tuple[str, ...]:
    for key, companion in (("max_depth", "count"), ("tree_seed", "count"), ("column", "file")):
        if key in shape and kind != companion:
            raise InputError(f"topics.{key}: expected only with {companion!r}")
    if kind == "file":
        return tuple(read_topics(file_of(shape, folder), str(shape.get("column", "topic")))[0])
    value = shape[kind]
    if kind == "count":
        numbers = (value, shape.get("max_depth", 8), shape.get("tree_seed", 0))
        if not all(isinstance(number, int) for number in numbers):
            raise InputError("topics: expected whole numbers for count, max_depth and tree_seed")
        return random_tree(*numbers)
    leaf, name = (int, "whole numbers") if kind == "fanout" else (str, "paths")
    if not isinstance(value, list | tuple) or not all(isinstance(item, leaf) for item in value):
        raise InputError(f"topics.{kind} = {value!r}: expected a list of {name}")
    return regular_tree(tuple(value)) if kind == "fanout" else tuple(value)


def topic_dict(spec: TopicRanges) -> dict[str, Any]:
    """The dictionary of a topic workload, without its churn."""
    law = {key: getattr(spec.topics, key) for key in _LAW}
    shape = {key: list(value) if isinstance(value, tuple) else value for key, value in spec.shape.items()}
    return {"name": spec.name, "topics": shape | law}
