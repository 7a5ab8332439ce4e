"""Topic workloads: a tree of topics, of which some are popular and most are not.

Topics are paths (`.1.0.2`, the root is `.`), as in the CAMCAST papers (Data-Aware Multicast, CAMCAST). The
r-th most popular topic has a share proportional to r^-exponent, times depth_bias^depth: above 1, subscribers
prefer special topics, below 1 general ones. Which topics are popular is scattered over the tree, the same for
every seed.

A topic's number is its place in `TopicSpec.topics`: in draws, in `workloads.generate.topic_ranges`, in the
files of a workload, and in an overlay's tree (`hierarchy.topics.TopicTree.numbered`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.generate.rows import uniforms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_GRID = 2.0**40  # shares are rounded to it, so that maths libraries do not matter


def regular_tree(fanout: tuple[int, ...]) -> tuple[str, ...]:
    """All topics of a tree in which every topic of depth k has `fanout[k]` subtopics; the root comes first.

    Examples
    --------
    >>> regular_tree((2, 1))
    ('.', '.0', '.1', '.0.0', '.1.0')
    """
    for depth, width in enumerate(fanout):
        if width < 1:
            raise InputError(f"fanout, depth {depth} = {width}: expected at least 1")
    level, topics = [""], ["."]
    for width in fanout:
        level = [f"{path}.{child}" for path in level for child in range(width)]
        topics += level
    return tuple(topics)


def random_tree(topics: int, max_depth: int, seed: int) -> tuple[str, ...]:
    """A tree of so many topics, each put under one drawn among those before it that are not too deep.

    Examples
    --------
    >>> tree = random_tree(100, 3, seed=1)
    >>> len(set(tree)), max(path.count(".") for path in tree)
    (100, 3)
    """
    if topics < 1 or max_depth < 1:
        raise InputError(f"topics = {topics}, max_depth = {max_depth}: expected at least 1 of each")
    draws = uniforms(seed, "topic tree", 0, topics)
    paths, inner, children = [""], [0], [0]
    for u in draws[1:].tolist():
        parent = inner[int(u * len(inner))]
        path = f"{paths[parent]}.{children[parent]}"
        children[parent] += 1
        children.append(0)
        paths.append(path)
        if path.count(".") < max_depth:
            inner.append(len(paths) - 1)
    return (".", *paths[1:])


def depth(topic: str) -> int:
    """How many supertopics a topic has.

    Examples
    --------
    >>> depth("."), depth(".sport.soccer")
    (0, 2)
    """
    return 0 if topic == "." else topic.count(".")


@dataclass(frozen=True)
class TopicSpec:
    """Which topics subscribers subscribe to and events are published on.

    Attributes
    ----------
    topics : tuple of str
        Paths; see `regular_tree` and `random_tree`.
    exponent : float
        Of the subscribers' Zipf law; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth.
    event_exponent : float
        Of the events' Zipf law, over the same ranks.

    Examples
    --------
    >>> spec = TopicSpec(regular_tree((3, 3)), depth_bias=2.0)
    >>> subscribed = spec.subscriptions(1000, seed=1)
    >>> subscribed.shape, spec.topics[int(subscribed[0])] in spec.topics
    ((1000,), True)
    """

    topics: tuple[str, ...]
    exponent: float = 1.0
    depth_bias: float = 1.0
    event_exponent: float = 0.0

    def __post_init__(self) -> None:
        if not self.topics or len(set(self.topics)) < len(self.topics):
            raise InputError("topics: expected at least one, each once")
        for name in ("exponent", "event_exponent"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} = {getattr(self, name)!r}: expected a number of at least 0")
        if not self.depth_bias > 0:
            raise InputError(f"depth_bias = {self.depth_bias!r}: expected a number above 0")

    def shares(self, exponent: float, depth_bias: float = 1.0) -> Floats:
        """The share of each topic under a Zipf law and a preference for depth."""
        rank = np.empty(len(self.topics), np.int64)
        rank[np.argsort(uniforms(0, "topic order", 0, len(rank)), kind="stable")] = np.arange(
            1, len(rank) + 1
        )
        # Python's power, not numpy's, which differs between processors.
        ranked = zip(rank.tolist(), self.topics, strict=True)
        weights = np.array([float(r) ** -exponent * depth_bias ** depth(topic) for r, topic in ranked])
        shares: Floats = weights / weights.sum()
        return shares

    def subscriptions(self, n: int, seed: int, start: int = 0) -> Integers:
        """The topic, as its place in `topics`, of the subscribers [start, start + n)."""
        return self._draw("topic/subscription", self.exponent, self.depth_bias, n, seed, start)

    def events(self, m: int, seed: int, start: int = 0) -> Integers:
        """The topic of the events [start, start + m)."""
        return self._draw("topic/event", self.event_exponent, 1.0, m, seed, start)

    def _draw(self, column: str, exponent: float, bias: float, count: int, seed: int, start: int) -> Integers:
        if count < 0 or not 0 <= seed < 2**64:
            raise InputError(
                f"rows = {count}, seed = {seed}: expected at least 0 rows and a seed in [0, 2^64)"
            )
        upper = _thresholds(self, exponent, bias)
        u = uniforms(seed, column, start, start + count)
        return np.minimum(np.searchsorted(upper, u, side="right"), len(self.topics) - 1)


@cache
def _thresholds(spec: TopicSpec, exponent: float, depth_bias: float) -> Floats:
    upper: Floats = np.rint(np.cumsum(spec.shares(exponent, depth_bias)) * _GRID) / _GRID
    return upper
