"""How members of a CAMCAST community come to know its size (CAMCAST, Sections 3 and 5.2.1).

What the paper takes for granted and nobody can know is the size N of a community: fan-outs are ln N + c, the
chance of being a link upward is g / N. In comparisons

- members count their community (`hierarchy.membership.census`); the tallies are billed;
- super-topic tables are checked with a fixed chance a cycle, not with g / N;
- in a community of fewer than g, where all are links, each sends to more of its super-topic table, so that an
  event goes up g a times on average, as in a large one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast import Settings, TopicSettings
from hierarchy.membership import CommunityOverlay, ScampSettings, Unstructured
from hierarchy.topics import NestedRanges, TopicTree
from sims.systems.gossip import Choices
from sims.systems.interface import Integers, Knob, Traffic
from sub2sub.errors import InputError
from sub2sub.overlay.sizes import HEADER

A, Z = 1.0, 3
CHECKS = 0.1  # chance a cycle of checking a super-topic table
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
        for name, value in (("c", self.c), ("g", self.g), ("retries", self.retries)):
            if value < 0:
                raise InputError(f"{name}: expected 0 or more, got {value}")


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


def billed(costs: Mapping[str, Mapping[str, int]]) -> Traffic:
    """What a cycle of such a membership costs, with headers."""
    (cost,) = costs.values()
    return Traffic(cost["messages"], cost["bytes"] + HEADER * cost["messages"])


def billed_by_peer(spent: tuple[Integers, Integers] | None) -> tuple[Integers, Integers] | None:
    """The same by peer."""
    return None if spent is None else (spent[0], spent[1] + HEADER * spent[0])


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
    >>> bool(130 < np.median(5 / found.upward[20:]) < 300)  # takes the 200 for between 130 and 300
    True
    """
    tables = overlay.membership.tables()
    return tables.topic_table, tables.super_table, choices(np.log(overlay.membership.sizes()), settings)


def choices(ln_n: NDArray[np.float64], settings: CommunityGossip) -> Choices:
    """What members do that take their community to have so many members.

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
