"""Topic workloads: a tree of topics and their popularity.

Topics are paths (`.1.0.2`, the root is `.`), as in Data-Aware Multicast and CAMCAST. The r-th most popular
topic has a share proportional to r^-exponent * depth_bias^depth. With a bias above 1 subscribers prefer deep
topics, below 1 those near the root. Ranks are a random permutation of the topics, the same for every seed.

A topic's number is its position in `TopicSpec.topics`: in draws, in `workloads.generate.topic_ranges`, in the
files of a workload, and in an overlay's tree (`hierarchy.topics.TopicTree.numbered`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers
from workloads.generate.rows import uniforms

MOST = 10_000_000  # topics of a tree
_GRID = 2.0**40  # shares are rounded to multiples of 1/_GRID, which all maths libraries agree on


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
    count = sum(math.prod(fanout[:depth]) for depth in range(len(fanout) + 1))
    if count > MOST:
        raise InputError(f"fanout: expected a tree of at most {MOST} topics, got {count}")
    level, topics = [""], ["."]
    for width in fanout:
        level = [f"{path}.{child}" for path in level for child in range(width)]
        topics += level
    return tuple(topics)


def random_tree(topics: int, max_depth: int, seed: int) -> tuple[str, ...]:
    """A random tree: the parent of each topic is drawn among the topics before it that are not too deep.

    Examples
    --------
    >>> tree = random_tree(100, 3, seed=1)
    >>> len(set(tree)), max(path.count(".") for path in tree)
    (100, 3)
    """
    if topics < 1 or max_depth < 1:
        raise InputError(f"topics = {topics}, max_depth = {max_depth}: expected at least 1 of each")
    if topics > MOST:
        raise InputError(f"topics = {topics}: expected at most {MOST}")
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


def names_in(topic: str) -> list[str]:
    """The names in the path of a topic, none for the root.

    Examples
    --------
    >>> names_in("."), names_in(".sport.soccer")
    ([], ['sport', 'soccer'])
    """
    return topic[1:].split(".") if topic != "." else []


def depth(topic: str) -> int:
    """How many supertopics a topic has."""
    return len(names_in(topic))


@dataclass(frozen=True)
class TopicSpec:
    """Distributions of subscriptions and events over topics.

    Attributes
    ----------
    topics : tuple of str
        Paths; see `regular_tree` and `random_tree`.
    exponent : float
        Exponent of the Zipf law of subscribers; 0 for equal shares.
    depth_bias : float
        Factor on a topic's share per level of depth.
    event_exponent : float
        Exponent of the Zipf law of events, with the same ranks.

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
            if not 0 <= getattr(self, name) < np.inf:
                raise InputError(f"{name} = {getattr(self, name)!r}: expected a number of at least 0")
        if not 0 < self.depth_bias < np.inf:
            raise InputError(f"depth_bias = {self.depth_bias!r}: expected a number above 0")

    def shares(self, exponent: float, depth_bias: float = 1.0) -> Floats:
        """The share of each topic under a Zipf law and a preference for depth."""
        order = np.argsort(uniforms(0, "topic order", 0, len(self.topics)), kind="stable")
        rank = np.argsort(order) + 1
        # Python's power, because NumPy's differs between processors.
        ranked = zip(rank.tolist(), self.topics, strict=True)
        try:
            weights = np.array([float(r) ** -exponent * depth_bias ** depth(topic) for r, topic in ranked])
        except OverflowError:
            raise InputError(
                f"depth_bias = {depth_bias!r}: expected a smaller number in so deep a tree"
            ) from None
        shares: Floats = weights / weights.sum()
        return shares

    def subscriptions(self, n: int, seed: int, start: int = 0) -> Integers:
        """The topic, as its position in `topics`, of the subscribers [start, start + n)."""
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
