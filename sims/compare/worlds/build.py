"""Worlds by name: "topics", "ranges WORKLOAD", "between T"."""

from __future__ import annotations

from pathlib import Path

from sims.compare.worlds.between import between_world
from sims.compare.worlds.ranges import range_world
from sims.compare.worlds.topics import TREE, read_tree, topic_world
from sims.compare.worlds.world import World
from sub2sub.errors import InputError

__all__ = ["World", "build_world"]


def build_world(name: str, n: int, events: int, probes: int, seed: int, choosing: int = 0) -> World:
    """The world of that name: "topics", "topics TREE-FILE", "ranges WORKLOAD" or "between T".

    Examples
    --------
    >>> build_world("between 0.5", n=100, events=5, probes=2, seed=1).name
    'between 0.5'
    """
    kind, _, rest = name.partition(" ")
    if kind == "topics":
        paths = read_tree(Path(rest)) if rest else TREE
        return topic_world(n, events, probes, seed, paths, name, choosing)
    if kind == "ranges" and rest:
        return range_world(n, events, probes, seed, rest, choosing=choosing)
    if kind == "between" and (t := _number(rest)) is not None:
        return between_world(n, events, probes, seed, t, choosing=choosing)
    raise InputError(f"world = {name!r}: expected topics, topics FILE, ranges WORKLOAD or between T")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
