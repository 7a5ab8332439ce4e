"""CAMCAST: communities of topics, events gossiped within them and upward (CAMCAST).

An event of a topic is published by a random live member of its community. In a run fan-outs follow from
`layers.topics` and from the size that each member takes its community to have; with `sizes = "exact"`, as the
paper assumes, from the true sizes. The paper assumes that members know the size N of their community, on
which fan-outs (ln N + c) and the probability of sending upward (g / N) depend. In comparisons

- members count their community (`hierarchy.compiled.census`); the tallies are billed;
- super-topic tables are checked with a fixed probability per cycle, not with g / N;
- in a community of fewer than g, where all members send upward, each sends to more entries of its super-topic
  table, so that g a copies of an event go up on average, as in a large community.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast import Settings
from hierarchy.camcast.settings import member_parameters
from hierarchy.compiled.camcast.dissemination import STREAM
from hierarchy.membership import (
    CommunityOverlay,
    Flooding,
    ScampSettings,
    SemiStructured,
    Structured,
    Unstructured,
)
from hierarchy.peers.settings import TopicSettings
from hierarchy.topics import TopicTree
from sims.config.entries import Kinds
from sims.config.topic_workload import TopicWorkload
from sims.observers.deliveries import Deliveries
from sims.rivals.base.accounts import keys_of
from sims.rivals.base.entrants import Compared, Knob, Look, Traffic
from sims.rivals.base.system import Integers, Publication
from sims.rivals.base.table_gossip import Choices, TopicAndSuperTables, spread_tables
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError, require
from sub2sub.geometry.matching import Members
from sub2sub.peers.descriptors import HEADER
from sub2sub.peers.draws import cycle_key

A, Z = 1.0, 3  # as compared
CHECKS = 0.1  # probability per cycle of checking a super-topic table, as compared
SCAMP = ScampSettings(c=1)
MEMBERSHIPS = {
    "unstructured": Unstructured,
    "flooding": Flooding,
    "semi-structured": SemiStructured,
    "structured": Structured,
}


@dataclass(frozen=True)
class CommunitySettings:
    """Settings of communities.

    Attributes
    ----------
    membership : str
        How members find each other and the super-community (Section 5.2); "flooding" is unstructured, with
        super-contacts found by FIND_SUPER_CONTACT (Section 3.3) instead of from gateways.
    topics : TopicSettings
        What every community tunes.
    """

    membership: Literal["unstructured", "flooding", "semi-structured", "structured"] = "unstructured"
    topics: TopicSettings = field(default_factory=TopicSettings)


@dataclass(frozen=True)
class CamcastDissemination:
    """Settings of dissemination.

    Attributes
    ----------
    sizes : str
        How members know the size of their community when they gossip: as they have counted it, or exactly, as
        the paper assumes.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    c : float, optional
        Targets beyond ln N of a member's topic table; those of `layers.topics` if not given.
    g : float, optional
        Members of a community that pass an event upward, on average; those of `layers.topics` if not given.
    """

    sizes: Literal["estimated", "exact"] = "estimated"
    retries: int = 0
    c: float | None = None
    g: float | None = None

    def __post_init__(self) -> None:
        require(self, retries=0)
        if (self.c is None) != (self.g is None):
            raise InputError("dissemination.c: expected c and g, or neither")


def choices(ln_n: NDArray[np.float64], c: float, g: float) -> Choices:
    """The choices of members, by the logarithm of the size that each estimates.

    Examples
    --------
    >>> found = choices(np.log([1.0, 1000.0]), c=1, g=5)
    >>> found.targets, found.upward, found.entry.round(3)
    (array([1, 7], dtype=int32), array([1.   , 0.005]), array([1.   , 0.333]))
    """
    n = np.exp(ln_n)
    return Choices(
        np.maximum(1, np.floor(ln_n + c)).astype(np.int32),
        np.minimum(1.0, g / n),
        np.minimum(1.0, np.maximum(A, g * A / n) / Z),
    )


class Camcast(Compared):
    """Every subscriber is a member of its topic's community; billed with headers."""

    name = "camcast"
    workload = TopicWorkload
    layers = CommunitySettings
    dissemination = CamcastDissemination
    worlds = ("topics",)
    look = Look("red", "s", "-")
    base = CamcastDissemination(c=TopicSettings.c, g=TopicSettings.g)
    probe = Knob(c=2.0, g=10.0)
    knobs = (
        *(Knob(c=c, g=g) for c, g in ((0, 3), (1, 5), (2, 10), (3, 15), (4, 20), (8, 40))),
        *(Knob(c=c, g=g, retries=2) for c, g in ((0, 5), (1, 10), (2, 20), (4, 40))),
    )
    observers: ClassVar[Kinds] = {"delivery": Deliveries}
    overlay: CommunityOverlay

    def build(self, layers: CommunitySettings | None, spare: int) -> CommunityOverlay:
        """One membership each; as compared, members are numbered as given."""
        topics = self.wanted.tree
        if layers is not None:
            kind = MEMBERSHIPS[layers.membership]
            return CommunityOverlay(topics.ranges, topics.of, self.seed, layers.topics, kind, spare)

        def membership(
            tree: TopicTree, topics: NDArray[np.int32], seed: int, settings: Settings | None
        ) -> Unstructured:
            return Unstructured(tree, topics, seed, settings, SCAMP)

        settings, ids = TopicSettings(a=A, z=Z, p_sel=CHECKS), np.arange(self.wanted.n)
        hosts = ids if self.wanted.hosts is None else self.wanted.hosts
        return CommunityOverlay(topics.ranges, topics.of, self.seed, settings, membership, spare, ids, hosts)

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

    def spread(self, asked: Publication, settings: CamcastDissemination) -> Outcome:
        """Gossip in the publisher's community, and upward from there."""
        tables, keys = self._tables(settings), keys_of(self.seed, asked.salt, asked.events)
        if settings.c is None:
            numbers = asked.salt * len(self.wanted.points) + asked.events
            keys = np.array([cycle_key(self.seed, STREAM, number) for number in numbers.tolist()], np.uint64)
        return spread_tables(tables, self.network, self.truth, asked, keys, settings.retries)

    @property
    def matches(self) -> Members:
        """Which members want each event: by their topics, as ranges do not show further parents."""
        tree, present = self.overlay.ranges.tree, self.overlay.population.present
        if not tree.has_further_parents:
            return super().matches
        own, wanting = self.overlay.topic, {}
        for topic in np.unique(self.wanted.tree.of_event).tolist():
            above = [topic, *tree.supertopics(topic)] if topic in tree else []
            wanting[topic] = np.flatnonzero(present & np.isin(own, above))
        lists = [wanting[topic] for topic in self.wanted.tree.of_event.tolist()]
        return Members(np.append(0, np.cumsum([len(each) for each in lists])), np.concatenate(lists))

    def may_publish(self, event: int) -> Integers:
        """Live members of the event's community."""
        topic = self.wanted.tree.of_event[event]
        return np.flatnonzero((self.network.alive == 1) & (self.overlay.topic == topic))

    def _tables(self, settings: CamcastDissemination) -> TopicAndSuperTables:
        """Both tables, and what each member does with an event."""
        overlay = self.overlay
        tables, tree = overlay.membership.tables(), overlay.ranges.tree
        sizes = overlay.membership.sizes()
        if settings.sizes == "exact":
            live = overlay.topic[self.network.alive == 1]
            sizes = np.bincount(live, minlength=tree.capacity)[overlay.topic].astype(float)
        if settings.c is not None and settings.g is not None:
            return tables.topic_table, tables.super_table, choices(np.log(sizes), settings.c, settings.g)
        known = member_parameters(sizes, overlay.topic, overlay.settings or TopicSettings(), tree)
        own = Choices(known.fanout, known.p_sel, known.p_a)
        return tables.topic_table, tables.super_table, own
