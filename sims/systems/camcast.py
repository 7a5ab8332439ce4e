"""CAMCAST: communities of topics, events gossiped within them and upward (CAMCAST).

An event of a topic is published by a random live member of its community. In a run fan-outs follow from
`layers.topics` and from the size that each member takes its community to have; with `sizes = "exact"`, as the
paper assumes, from the true sizes (comparisons: `sims.systems.community_sizes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.dissemination import STREAM
from hierarchy.camcast.settings import TopicSettings, member_parameters
from hierarchy.membership import CommunityOverlay, Flooding, SemiStructured, Structured, Unstructured
from sims.engine.simulation import Simulation
from sims.systems.community_sizes import (
    KNOBS,
    PROBE,
    CommunityGossip,
    billed,
    billed_by_peer,
    compared_communities,
    tables_of,
)
from sims.systems.gossip import Choices, TableGossip, Truth, spread_tables
from sims.systems.interface import Integers, Knob, Traffic
from sims.systems.topic_workload import TopicWorkload
from sub2sub.errors import InputError
from sub2sub.events.outcome import Outcome
from sub2sub.geometry.matching import Members
from sub2sub.kernels.randomness import cycle_key

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
        How members find one another and the super-community (Section 5.2); "flooding" is unstructured, with
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


class Camcast(TableGossip):
    """Every subscriber is a member of its topic's community."""

    name = "camcast"
    workload = TopicWorkload
    layers = CommunitySettings
    dissemination = CamcastDissemination
    knobs, probe = KNOBS, PROBE
    overlay: CommunityOverlay

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

    def traffic(self, costs: Mapping[str, Mapping[str, int]]) -> Traffic:
        """With headers."""
        return billed(costs)

    def spent(self) -> tuple[Integers, Integers] | None:
        """With headers."""
        return billed_by_peer(super().spent())

    def links(self) -> dict[str, Integers]:
        """Both tables."""
        tables = self.overlay.membership.tables()
        sizes = (tables.topic_table >= 0).sum(axis=1), (tables.super_table >= 0).sum(axis=(1, 2))
        return {
            kind: size[self.peer_of]
            for kind, size in zip(("topic table", "super-topic table"), sizes, strict=True)
        }

    def publish(
        self,
        events: Integers,
        publishers: Integers,
        settings: CommunityGossip,
        salt: int,
        record: bool = False,
    ) -> Outcome:
        """Gossip in the publisher's community, and upward from there."""
        tables = tables_of(self.overlay, settings)
        return self.spread(tables, events, publishers, publishers, salt, settings.retries, record)

    def publish_tests(
        self, simulation: Simulation, settings: CamcastDissemination, record: bool = False
    ) -> tuple[Integers, Outcome]:
        """Publish each event from a random live member of its community, where there is one."""
        publishers = self.draw_publishers(simulation)
        events = np.flatnonzero(publishers >= 0)
        if not events.size:
            raise InputError(f"delivery: nobody alive can publish a test event in cycle {simulation.cycle}")
        first = simulation.cycle * len(publishers)
        keys = np.array([cycle_key(self.seed, STREAM, first + event) for event in events.tolist()], np.uint64)
        starts = publishers[events]
        return events, spread_tables(
            self._tables(settings), self.network, Truth.of(self), events, starts, starts, keys,
            settings.retries, record,
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
