"""How members of a CAMCAST community come to know its size (CAMCAST, Sections 3 and 5.2.1).

The paper assumes that members know the size N of their community, on which fan-outs (ln N + c) and the
probability of sending upward (g / N) depend. In comparisons

- members count their community (`hierarchy.compiled.census`); the tallies are billed;
- super-topic tables are checked with a fixed probability per cycle, not with g / N;
- in a community of fewer than g, where all members send upward, each sends to more entries of its super-topic
  table, so that g a copies of an event go up on average, as in a large community.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast import Settings, TopicSettings
from hierarchy.membership import CommunityOverlay, ScampSettings, Unstructured
from hierarchy.topics import NestedRanges, TopicTree
from sims.systems.gossip import Choices, TableGossip
from sims.systems.interface import Integers, Knob, Traffic
from sub2sub.errors import require
from sub2sub.peers.descriptors import HEADER

A, Z = 1.0, 3
CHECKS = 0.1  # probability per cycle of checking a super-topic table
SCAMP = ScampSettings(c=1)
PROBE = Knob(c=2, g=10)
KNOBS = (
    *(Knob(c=c, g=g) for c, g in ((0, 3), (1, 5), (2, 10), (3, 15), (4, 20), (8, 40))),
    *(Knob(c=c, g=g, retries=2) for c, g in ((0, 5), (1, 10), (2, 20), (4, 40))),
)


@dataclass(frozen=True)
class CommunityGossip:
    """Settings of gossip in communities whose sizes members estimate.

    Attributes
    ----------
    c : float
        Targets beyond ln N of a member's topic table.
    g : float
        Members of a community that pass an event upward, on average.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    c: float = 2.0
    g: float = 10.0
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, c=0, g=0, retries=0)


def compared_communities(
    ranges: NestedRanges, topic: ArrayLike, hosts: ArrayLike, seed: int, spare: int = 0
) -> CommunityOverlay:
    """Members of topics, numbered as given, with CAMCAST's unstructured membership."""

    def membership(
        tree: TopicTree, topics: NDArray[np.int32], seed: int, settings: Settings | None
    ) -> Unstructured:
        return Unstructured(tree, topics, seed, settings, SCAMP)

    settings = TopicSettings(a=A, z=Z, p_sel=CHECKS)
    ids = np.arange(np.asarray(topic).size)
    return CommunityOverlay(ranges, topic, seed, settings, membership, spare, ids, hosts)


def tables_of(
    overlay: CommunityOverlay, settings: CommunityGossip
) -> tuple[NDArray[np.int32], NDArray[np.int32], Choices]:
    """Both tables, and what each member does with an event.

    Examples
    --------
    >>> ranges = NestedRanges(TopicTree.from_paths([".a"]))
    >>> overlay = compared_communities(ranges, np.repeat([0, 1], [20, 200]), np.arange(220), seed=1)
    >>> overlay.bootstrap()
    >>> costs = [overlay.step(cycle) for cycle in range(1, 26)]
    >>> _, _, found = tables_of(overlay, CommunityGossip(c=1, g=5))
    >>> bool(130 < np.median(5 / found.upward[20:]) < 300)  # estimates of the 200 members
    True
    """
    tables = overlay.membership.tables()
    return tables.topic_table, tables.super_table, choices(np.log(overlay.membership.sizes()), settings)


def choices(ln_n: NDArray[np.float64], settings: CommunityGossip) -> Choices:
    """The choices of members, by the logarithm of the size that each estimates.

    Examples
    --------
    >>> found = choices(np.log([1.0, 1000.0]), CommunityGossip(c=1, g=5))
    >>> found.targets, found.upward, found.entry.round(3)
    (array([1, 7], dtype=int32), array([1.   , 0.005]), array([1.   , 0.333]))
    """
    n = np.exp(ln_n)
    return Choices(
        np.maximum(1, np.floor(ln_n + settings.c)).astype(np.int32),
        np.minimum(1.0, settings.g / n),
        np.minimum(1.0, np.maximum(A, settings.g * A / n) / Z),
    )


class CommunityTables(TableGossip):
    """A system that gossips in such communities, billed with headers."""

    knobs, probe = KNOBS, PROBE
    overlay: CommunityOverlay

    def traffic(self, costs: Mapping[str, Mapping[str, int]]) -> Traffic:
        """With headers."""
        (cost,) = costs.values()
        return Traffic(cost["messages"], cost["bytes"] + HEADER * cost["messages"])

    def spent(self) -> tuple[Integers, Integers] | None:
        """With headers."""
        spent = super().spent()
        return None if spent is None else (spent[0], spent[1] + HEADER * spent[0])

    def links(self) -> dict[str, Integers]:
        """Both tables."""
        tables = self.overlay.membership.tables()
        sizes = {
            "topic table": (tables.topic_table >= 0).sum(axis=1),
            "super-topic table": (tables.super_table >= 0).sum(axis=(1, 2)),
        }
        return {kind: self.by_subscriber(size) for kind, size in sizes.items()}
