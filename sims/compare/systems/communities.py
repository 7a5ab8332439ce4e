"""CAMCAST as published, for any members of any topics (CAMCAST, Sections 3 and 5.2.1).

Topic tables are SCAMP's views, super-topic tables are found through gateways, checked and passed on; all of
it runs and is billed (`hierarchy.membership.Unstructured`). What the papers take for granted and nobody can
know is the size N of a community: fan-outs are ln N + c, the chance of being a link upward is g / N. Here

- a member estimates ln N from SCAMP, whose views settle at (c + 1) ln N entries, as the mean over its own
  view and those of the members in it; each heartbeat carries one number more for that, which is billed;
- super-topic tables are checked with a fixed chance a cycle, not with g / N;
- in a community of fewer than g, where all are links, each sends to more of its super-topic table, so that an
  event goes up g a times on average, as in a large one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast import TopicSettings
from hierarchy.channel import WORD
from hierarchy.membership import ScampSettings, Unstructured
from hierarchy.topics import TopicTree
from sims.compare.systems.gossip import Choices
from sims.compare.systems.system import HEADER, Knob, Traffic
from sub2sub.kernels.compilation import kernel
from sub2sub.overlay.network import Network

__all__ = ["KNOBS", "Communities", "estimate_sizes"]

A, Z = 1.0, 3
CHECKS = 0.1  # chance a cycle of checking a super-topic table
SCAMP = ScampSettings(c=1)
KNOBS = tuple(Knob(c=c, g=g) for c, g in ((0, 3), (1, 5), (2, 10), (4, 20), (8, 40)))


class Communities:
    """Members and their tables.

    Parameters
    ----------
    tree : TopicTree
    topic : (members,) int64
    seed : int

    Examples
    --------
    >>> tree = TopicTree.from_paths([".a"])
    >>> group = Communities(tree, np.repeat([0, 1], [20, 200]), seed=1)
    >>> costs = [group.step(cycle, Network.whole(220)) for cycle in range(1, 6)]
    >>> topic_table, super_table, choices = group.tables(Knob(c=1, g=5))
    >>> bool(50 < np.median(5 / choices.upward[20:]) < 400)  # takes the 200 for between 50 and 400
    True
    """

    def __init__(self, tree: TopicTree, topic: NDArray[np.int64], seed: int) -> None:
        n = len(topic)
        self.membership = Unstructured(
            tree, topic.astype(np.int32), seed, TopicSettings(a=A, z=Z, p_sel=CHECKS), SCAMP
        )
        self.membership.join(np.arange(n), np.full(n, -1), 0)

    def step(self, cycle: int, network: Network) -> Traffic:
        """One cycle of both tables."""
        cost = self.membership.step(cycle, network)
        size = cost["bytes"] + HEADER * cost["messages"] + WORD * cost["topic tables"]
        return Traffic(cost["messages"], size)

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Entries of each member's topic table and super-topic table."""
        tables = self.membership.tables()
        return (tables.topic_table >= 0).sum(axis=1), (tables.super_table >= 0).sum(axis=(1, 2))

    def tables(self, knob: Knob) -> tuple[NDArray[np.int32], NDArray[np.int32], Choices]:
        """Both tables, and what each member does with an event."""
        tables = self.membership.tables()
        ln_n = estimate_sizes(tables.topic_table, float(SCAMP.c + 1))
        return tables.topic_table, tables.super_table, choices(ln_n, knob)


def choices(ln_n: NDArray[np.float64], knob: Knob) -> Choices:
    """What members do that take their community to have so many members.

    Examples
    --------
    >>> found = choices(np.log([1.0, 1000.0]), Knob(c=1, g=5))
    >>> found.targets, found.upward, found.entry.round(3)
    (array([1, 7], dtype=int32), array([1.   , 0.005]), array([1.   , 0.333]))
    """
    n = np.exp(ln_n)
    return Choices(
        np.maximum(1, np.floor(ln_n + knob["c"])).astype(np.int32),
        np.minimum(1.0, knob["g"] / n),
        np.minimum(1.0, np.maximum(A, knob["g"] * A / n) / Z),
    )


@kernel
def _neighbourhood(table):
    size = np.zeros(len(table), np.int64)
    for member in range(len(table)):
        while size[member] < table.shape[1] and table[member, size[member]] >= 0:
            size[member] += 1
    mean = np.empty(len(table), np.float64)
    for member in range(len(table)):
        total = np.float64(size[member])
        for k in range(size[member]):
            total += size[table[member, k]]
        mean[member] = total / (size[member] + 1)
    return mean


def estimate_sizes(topic_table: NDArray[np.int32], entries: float) -> NDArray[np.float64]:
    """What each member takes ln N to be, where tables have `entries` times ln N entries on average.

    Examples
    --------
    >>> estimate_sizes(np.array([[1, -1], [0, -1], [-1, -1]], np.int32), 2.0)
    array([0.5, 0.5, 0. ])
    """
    estimates: NDArray[np.float64] = _neighbourhood(topic_table) / entries
    return estimates
