"""Which topics are above which, where some have further parents: what live processes are configured with.

A topic is a path, and the path before its last part is its first parent. `SuperTable` holds members of one
chain of topics; a member whose topics branch above it has a table for each branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sub2sub.errors import InputError

MAX_TOPIC = 256  # bytes of a topic's name


def check_topic(topic: str, field: str = "topic") -> str:
    """A topic, or an error that says what was expected.

    Examples
    --------
    >>> check_topic(".soccer.italy")
    '.soccer.italy'
    """
    right = isinstance(topic, str) and topic.startswith(".") and len(topic.encode()) <= MAX_TOPIC
    if not right or ".." in topic or (topic != "." and topic.endswith(".")):
        raise InputError(f"{field}: expected a path such as '.soccer.italy', got {topic!r}")
    return topic


class Chain(NamedTuple):
    """Topics that follow one another upward, nearest first.

    `below` is the number of the chain that has to be searched without result for this one to matter, or -1.
    """

    topics: tuple[str, ...]
    below: int


class TopicGraph:
    """Topics and their parents.

    Parameters
    ----------
    further : mapping of str to topics, optional
        Further parents of topics.

    Examples
    --------
    >>> graph = TopicGraph({".soccer.italy": [".news"]})
    >>> graph.parents(".soccer.italy"), graph.includes(".news", ".soccer.italy.roma")
    (('.soccer', '.news'), True)
    >>> [chain.topics for chain in graph.chains(".soccer.italy")]
    [('.soccer', '.'), ('.news',)]
    """

    def __init__(self, further: Mapping[str, Sequence[str]] | None = None) -> None:
        self._further: dict[str, list[str]] = {}
        if not isinstance(further, Mapping | None):
            raise InputError(f"parents: expected topics by topic, got {further!r}")
        for topic, parents in (further or {}).items():
            for parent in [parents] if isinstance(parents, str) else parents:
                self.add_parent(topic, parent)

    def add_parent(self, topic: str, parent: str) -> None:
        """Give a topic a further parent."""
        check_topic(topic, "parents"), check_topic(parent, f"parents[{topic!r}]")
        if topic == "." or self.includes(topic, parent):
            raise InputError(f"parents[{topic!r}]: expected a topic that is not below it, got {parent!r}")
        if not self.includes(parent, topic):
            self._further.setdefault(topic, []).append(parent)

    def parents(self, topic: str) -> tuple[str, ...]:
        """The direct supertopics, the first of them by the path."""
        if topic == ".":
            return ()
        return (topic.rpartition(".")[0] or ".", *self._further.get(topic, ()))

    def includes(self, topic: str, other: str) -> bool:
        """Whether events of the other topic are events of this one."""
        seen, queue = {other}, [other]
        while queue:
            each = queue.pop()
            if each == topic:
                return True
            for parent in self.parents(each):
                if parent not in seen:
                    seen.add(parent)
                    queue.append(parent)
        return False

    def chains(self, topic: str) -> list[Chain]:
        """The chains above a topic: a new one begins at every branch, and none holds a topic twice."""
        found: list[Chain] = []
        seen: set[str] = set()
        branches = [(parent, -1) for parent in self.parents(topic)]
        while branches:
            at, below = branches.pop(0)
            chain: list[str] = []
            parents: tuple[str, ...] = (at,)
            while len(parents) == 1 and parents[0] not in seen:
                seen.add(parents[0])
                chain.append(parents[0])
                parents = self.parents(parents[0])
            if chain:
                found.append(Chain(tuple(chain), below))
                branches += [(parent, len(found) - 1) for parent in parents if len(parents) > 1]
        return found
