"""The members of each community, and the communities above it to which it sends events.

CAMCAST, Sections 2.1 and 3.6. A *member* is one process in one community; a process in several unrelated
communities is several members, as a subscriber of several boxes is several virtual peers. A process becomes
a member of a community by subscribing to its topic or by publishing on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.topics import TopicTree
from sub2sub.errors import InputError


@dataclass(frozen=True)
class Communities:
    """Members of all communities, grouped by topic.

    Attributes
    ----------
    tree : TopicTree
        The hierarchy.
    topic : (n,) int32
        Topic number of each member.
    start : (topics + 1,) int64
        Start of each community in `members`.
    members : (n,) int32
        Member numbers sorted by topic.

    Examples
    --------
    >>> tree = TopicTree.from_paths([".soccer.italy"])
    >>> group = Communities.of(tree, [".soccer", ".", ".soccer", ".soccer.italy"])
    >>> group.sizes
    array([1, 2, 1])
    >>> group.community(".soccer")
    array([0, 2], dtype=int32)
    """

    tree: TopicTree
    topic: NDArray[np.int32]
    start: NDArray[np.int64]
    members: NDArray[np.int32]

    @classmethod
    def of(cls, tree: TopicTree, topics: ArrayLike) -> Communities:
        """Group members by their topics, given as names or numbers, one per member."""
        numbers = np.asarray(topics)
        if numbers.ndim != 1:
            raise InputError(f"topics: expected one topic per member, got an array of shape {numbers.shape}")
        if numbers.dtype.kind in "US":
            numbers = np.array([tree.number(str(name)) for name in numbers], np.int32)
        known = np.zeros(tree.capacity, bool)
        known[list(tree)] = True
        if numbers.size and not (
            numbers.dtype.kind in "iu" and 0 <= numbers.min() <= numbers.max() < len(known)
        ):
            raise InputError(
                f"topics: expected names or numbers below {len(known)}, got {numbers.dtype} values"
            )
        if not known[numbers].all():
            row = int(np.flatnonzero(~known[numbers])[0])
            raise InputError(f"topics[{row}]: {numbers[row]} is unknown, expected a topic of the tree")
        return cls(tree, numbers.astype(np.int32), *grouped(numbers, tree.capacity))

    @classmethod
    def chain(cls, *sizes: int) -> Communities:
        """Communities along one path, the root's size first: the setting of the papers' simulations.

        Examples
        --------
        >>> group = Communities.chain(10, 100, 1000)
        >>> group.tree.name(2), group.sizes
        ('.t1.t2', array([  10,  100, 1000]))
        """
        tree = TopicTree()
        name = ""
        for level in range(1, len(sizes)):
            name += f".t{level}"
            tree.add(name)
        return cls.of(tree, np.repeat(np.arange(len(sizes)), sizes))

    def __len__(self) -> int:
        return len(self.topic)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Members of each community, by topic number."""
        return np.diff(self.start)

    def community(self, topic: str | int) -> NDArray[np.int32]:
        """Members of one community."""
        t = self.tree.number(topic)
        return self.members[self.start[t] : self.start[t + 1]]

    def interested(self, topic: str | int) -> NDArray[np.bool_]:
        """Which members should receive the events of a topic: those of the topic and of its supertopics."""
        above = [self.tree.number(topic), *self.tree.supertopics(topic)]
        return np.isin(self.topic, above)


def grouped(groups: NDArray[Any], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The start of each of `count` groups among the members sorted by group, and these members.

    Examples
    --------
    >>> grouped(np.array([1, 0, 1]), 2)
    (array([0, 1, 3]), array([1, 0, 2], dtype=int32))
    """
    start = np.append(0, np.cumsum(np.bincount(groups, minlength=count))).astype(np.int64)
    return start, np.argsort(groups, kind="stable").astype(np.int32)


def places_in(members: NDArray[np.int32]) -> NDArray[np.int32]:
    """The position of each member among the members that `grouped` sorted."""
    return np.argsort(members).astype(np.int32)


def populated_supertopics(tree: TopicTree, sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Communities to which each topic sends upward: its parents, empty ones replaced by their own parents.

    Returns
    -------
    (topics, slots) int32
        Padded with -1. One slot per topic in a tree; more if topics have several parents.

    Examples
    --------
    >>> tree = TopicTree.from_paths([".soccer.italy"])
    >>> populated_supertopics(tree, np.array([3, 0, 5])).tolist()  # nobody is interested in .soccer
    [[-1], [0], [0]]
    """
    above: dict[int, list[int]] = {}
    for topic in tree.topological():
        found: list[int] = []
        for parent in tree.parents(topic):
            found += [u for u in ([parent] if sizes[parent] else above[parent]) if u not in found]
        above[topic] = found
    slots = max(1, max(map(len, above.values())))
    table = np.full((tree.capacity, slots), -1, np.int32)
    for topic, found in above.items():
        table[topic, : len(found)] = found
    return table
