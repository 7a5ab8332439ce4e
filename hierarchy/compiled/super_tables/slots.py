"""The supertopics from which a super-topic table may be filled, nearest first.

CAMCAST, Sections 2.1 and 3.6. A table is for a parent; while the parent's community is empty, the next
supertopic up the chain takes its place, and so on. If the chain branches because a topic has several parents,
each branch has its own table, used only while all communities of the chain below it are empty. So events
reach every ancestor, whichever communities are populated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import TopicTree
from sub2sub.compiled.machinery.compilation import kernel


class Slots(NamedTuple):
    """Super-topic tables ("slots") of each topic, as the kernels read them."""

    first: NDArray[np.int64]  # (topics + 1,) the first slot of each topic
    after: NDArray[np.int64]  # (slots,) the slot that must be empty for this one to be used; -1: none
    start: NDArray[np.int64]  # (slots + 1,) start of the chain of each slot in `chain`
    chain: NDArray[np.int64]  # supertopics, nearest first

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
    """Position of a topic in the chain of a slot, 0 for the parent; -1 if it is not in the chain."""
    for i in range(slots.start[slot], slots.start[slot + 1]):
        if slots.chain[i] == topic:
            return i - slots.start[slot]
    return -1
