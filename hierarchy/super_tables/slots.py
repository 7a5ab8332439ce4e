"""Which supertopics a super-topic table may be filled from, nearest first.

CAMCAST Sections 2.1 and 3.6. A table is for a parent; while the parent's community is empty, the next
supertopic up the chain takes its place, and so on. Where the chain branches because a topic has several
parents, each branch becomes a table of its own, in use only as long as all of the chain below it is
empty: only so is every ancestor reached whatever communities are populated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import TopicTree
from sub2sub.kernels.compilation import kernel


class Slots(NamedTuple):
    """Super-topic tables ("slots") of each topic, as the kernels read them.

    Attributes
    ----------
    first : (topics + 1,) int64
        Where the slots of each topic begin.
    after : (slots,) int64
        The slot of the same topic that has to be empty for this one to be used; -1 for none.
    start : (slots + 1,) int64
        Where the chain of each slot begins in `chain`.
    chain : (...) int64
        Supertopics, nearest first.
    """

    first: NDArray[np.int64]
    after: NDArray[np.int64]
    start: NDArray[np.int64]
    chain: NDArray[np.int64]

    @property
    def most(self) -> int:
        """Largest number of slots of a topic, at least one."""
        return max(1, int(np.diff(self.first).max()))


def slots_of(tree: TopicTree) -> Slots:
    """Lay out the slots of all topics of a tree.

    Examples
    --------
    >>> tree = TopicTree.from_paths([".soccer.italy"])
    >>> slots = slots_of(tree)
    >>> slots.first.tolist(), slots.chain.tolist()  # .soccer: [.], .soccer.italy: [.soccer, .]
    ([0, 0, 1, 2], [0, 1, 0])
    """
    first, start = [0], [0]
    after: list[int] = []
    chain: list[int] = []
    for topic in range(tree.capacity):
        waiting = [(parent, -1) for parent in tree.parents(topic)] if topic in tree else []
        begun = {parent for parent, _ in waiting}
        for above, below in waiting:
            slot = len(after)
            after.append(below)
            chain.append(above)
            while len(parents := tree.parents(above)) == 1:
                above = parents[0]
                chain.append(above)
            start.append(len(chain))
            fresh = [parent for parent in parents if parent not in begun]
            waiting += [(parent, slot) for parent in fresh]
            begun.update(fresh)
        first.append(len(after))
    return Slots(*(np.array(column, np.int64) for column in (first, after, start, chain)))


def chains_of(slots: Slots, topic: int) -> list[list[int]]:
    """The chains of the slots of one topic.

    Examples
    --------
    >>> chains_of(slots_of(TopicTree.from_paths([".soccer.italy"])), 2)
    [[1, 0]]
    """
    ends = [(slots.start[slot], slots.start[slot + 1]) for slot in range(*slots.first[topic : topic + 2])]
    return [slots.chain[start:end].tolist() for start, end in ends]


@kernel
def chain_place(slots, slot, topic):
    """How far up the chain of a slot a topic stands, 0 for the parent; -1 if it is not on it."""
    for i in range(slots.start[slot], slots.start[slot + 1]):
        if slots.chain[i] == topic:
            return i - slots.start[slot]
    return -1
