"""A topic workload as ranges: a topic is a number, a subscription the range of a topic and all below it.

Topics are numbered depth first, so the topics below a topic follow it without a gap. A subscription to topic
t is the closed range [t, last below t] of the only attribute, `topic`; an event of topic e is the point e. So
e matches exactly the subscriptions to e and to its supertopics, and all code for range workloads (files,
matching, statistics, simulations) works for topics. `hierarchy` has topics that are added while running.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from workloads.arrays import Floats, Integers
from workloads.generate.churn import Churn
from workloads.generate.topics import TopicSpec, names_in
from workloads.spec.distributions import Constant
from workloads.spec.spec import Attribute, Spec, check_seed


def depth_first(topics: tuple[str, ...]) -> tuple[str, ...]:
    """The same topics, each followed by all topics below it.

    Examples
    --------
    >>> depth_first((".", ".a", ".b", ".a.c"))
    ('.', '.a', '.a.c', '.b')
    """
    return tuple(sorted(topics, key=names_in))


@cache
def last_below(topics: tuple[str, ...]) -> Integers:
    """For topics in depth-first order, the number of the last one at or below each.

    Examples
    --------
    >>> last_below((".", ".a", ".a.c", ".b")).tolist()
    [3, 2, 2, 3]
    """
    last = np.arange(len(topics))
    above: list[tuple[int, list[str]]] = []
    for number, path in enumerate(map(names_in, topics)):
        while above and path[: len(above[-1][1])] != above[-1][1]:
            above.pop()
        for supertopic, _ in above:
            last[supertopic] = number
        above.append((number, path))
    return last


@dataclass(frozen=True)
class TopicRanges(Spec):
    """A workload whose subscriptions and events are topics; make one with `of`.

    Attributes
    ----------
    topics : TopicSpec
        Topics in depth-first order, and their popularity.

    Examples
    --------
    >>> from workloads.generate.topics import regular_tree
    >>> news = TopicRanges.of("news", TopicSpec(regular_tree((2, 2))))
    >>> news.topics.topics
    ('.', '.0', '.0.0', '.0.1', '.1', '.1.0', '.1.1')
    >>> lows, highs = news.subscriptions(3, seed=1)
    >>> bool((highs == last_below(news.topics.topics)[lows.astype(int)]).all())
    True
    """

    topics: TopicSpec = field(default_factory=lambda: TopicSpec((".",)))

    @classmethod
    def of(cls, name: str, topics: TopicSpec, churn: Churn | None = None) -> TopicRanges:
        """The workload of a topic spec, with its topics in depth-first order."""
        ordered = replace(topics, topics=depth_first(topics.topics))
        highest = float(max(1, len(ordered.topics) - 1))
        axis = Attribute("topic", width=Constant(), high=highest, type="int")
        return cls(name, (axis,), churn=churn, topics=ordered)

    def rows(self, seed: int, start: int, stop: int) -> tuple[Floats, Floats]:
        """Closed ranges (lows, highs) of the subscriptions [start, stop)."""
        check_seed(seed)
        topic = self.topics.subscriptions(stop - start, seed, start)
        last = last_below(self.topics.topics)[topic]
        return topic.astype(np.float64)[:, None], last.astype(np.float64)[:, None]

    def candidates(self, seed: int, start: int, stop: int) -> Floats:
        """The candidate events [start, stop), with or without matching subscribers."""
        check_seed(seed)
        return self.topics.events(stop - start, seed, start).astype(np.float64)[:, None]
