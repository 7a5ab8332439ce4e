"""CAMCAST: communities of topics, events gossiped within them and upward (CAMCAST).

An event of a topic is published by a random live member of its community. In a run fan-outs follow from
`layers.topics` and from the size that each member takes its community to have; with `sizes = "exact"`, as the
paper assumes, from the true sizes (comparisons: `sims.systems.community_sizes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.settings import member_parameters
from hierarchy.compiled.camcast.dissemination import STREAM
from hierarchy.membership import CommunityOverlay, Flooding, SemiStructured, Structured, Unstructured
from hierarchy.peers.settings import TopicSettings
from sims.systems.community_sizes import CommunityGossip, CommunityTables, compared_communities, tables_of
from sims.systems.gossip import Choices, spread_tables
from sims.systems.interface import Integers, Knob
from sims.systems.ledger import Truth, keys_of
from sims.systems.topic_workload import TopicWorkload
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.geometry.matching import Members
from sub2sub.peers.draws import cycle_key

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
    """Settings of dissemination; c and g are those of `layers.topics`.

    Attributes
    ----------
    sizes : str
        How members know the size of their community when they gossip: as they have counted it, or exactly, as
        the paper assumes.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    sizes: Literal["estimated", "exact"] = "estimated"
    retries: int = 0


class Camcast(CommunityTables):
    """Every subscriber is a member of its topic's community."""

    name = "camcast"
    workload = TopicWorkload
    layers = CommunitySettings
    dissemination = CamcastDissemination

    def build(self, layers: CommunitySettings | None, spare: int) -> CommunityOverlay:
        """One membership each."""
        topics = self.wanted.tree
        if layers is None:
            return compared_communities(topics.ranges, topics.of, np.arange(self.wanted.n), self.seed, spare)
        kind = MEMBERSHIPS[layers.membership]
        return CommunityOverlay(topics.ranges, topics.of, self.seed, layers.topics, kind, spare)

    @classmethod
    def at(cls, knob: Knob) -> CommunityGossip:
        """Members estimate sizes."""
        return CommunityGossip(**knob.settings)

    def publish(
        self,
        events: Integers,
        publishers: Integers,
        settings: CommunityGossip | CamcastDissemination,
        salt: int,
        record: bool = False,
    ) -> Outcome:
        """Gossip in the publisher's community, and upward from there."""
        if isinstance(settings, CommunityGossip):
            tables, keys = tables_of(self.overlay, settings), keys_of(self.seed, salt, events)
        else:
            tables, numbers = self._tables(settings), salt * len(self.wanted.points) + events
            keys = np.array([cycle_key(self.seed, STREAM, number) for number in numbers.tolist()], np.uint64)
        return spread_tables(
            tables, self.network, Truth.of(self), events, publishers, publishers, keys, settings.retries,
            record,
        )  # fmt: skip

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

    def _tables(self, settings: CamcastDissemination) -> tuple[NDArray[np.int32], NDArray[np.int32], Choices]:
        overlay = self.overlay
        tuned = overlay.settings or TopicSettings()
        tables, tree = overlay.membership.tables(), overlay.ranges.tree
        sizes = overlay.membership.sizes()
        if settings.sizes == "exact":
            live = overlay.topic[self.network.alive == 1]
            sizes = np.bincount(live, minlength=tree.capacity)[overlay.topic].astype(float)
        known = member_parameters(sizes, overlay.topic, tuned, tree)
        own = Choices(known.fanout, known.p_sel, known.p_a)
        return tables.topic_table, tables.super_table, own
