"""Base of the systems with a group for each topic.

If interests are topics, a subscriber is a member of its topic's group only. An event of a topic is pushed in
its group and in the groups of the topics above, where its publisher sends it to a few members it knows
(`sims.anchors.contacts`). If interests are ranges, all subscribers are in one group and receive all events.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sims.anchors.contacts import Entries
from sims.anchors.groups import Groups, GroupStack
from sims.anchors.pushing.tables import PushRules, PushTables, Starts, Way
from sims.config.entries import Kinds
from sims.observers import Connectivity, Degrees
from sims.observers.deliveries import Deliveries
from sims.systems.interface import Integers
from sims.systems.ledger import keys_of
from sims.systems.pushed import Pushed
from sims.systems.route_sender import RouteSender
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock
from sub2sub.overlay.population import Population
from sub2sub.peers.draws import Dice

ENTERING = -1  # selects the draws of an event's route into the groups above


class Grouped(Pushed):
    """A system of groups."""

    observers: ClassVar[Kinds] = {"delivery": Deliveries, "degrees": Degrees, "connectivity": Connectivity}
    within: ClassVar[bool] = True  # whether first contacts are in one's group

    def build(self, layers: Any, spare: int) -> GroupStack:
        """Groups, the protocol's own layers, and contacts in other groups."""
        population = self.make_population(spare)
        self.groups = Groups(population, self.wanted.topics.ranges if self.wanted.topics else None)
        own = self.protocol(population, layers)
        self.entries = Entries(self.groups, self.seed) if self.wanted.topics else None
        return GroupStack(
            population, self.groups, [*own, *filter(None, [self.entries])], self.seed, self.within
        )

    @abstractmethod
    def protocol(self, population: Population, layers: Any) -> Sequence[Layer]:
        """The layers of the protocol."""

    @abstractmethod
    def tables(self) -> PushTables:
        """The links that events are pushed and announced along."""

    @abstractmethod
    def rules(self, settings: Any) -> PushRules:
        """How they are used."""

    def publish(
        self, events: Integers, publishers: Integers, settings: Any, salt: int, record: bool = False
    ) -> Outcome:
        """Push each event in its publisher's group, and in the groups above."""
        rules = self.rules(settings)
        starts = self.starts(events, publishers, rules.retries, salt)
        return self.push(
            self.computed("tables", self.tables), rules, events, publishers, starts, salt, record
        )

    def starts(self, events: Integers, publishers: Integers, retries: int, salt: int) -> Starts:
        """The members that publishers reach in the groups above theirs."""
        if self.entries is None:
            return Starts.of(publishers.tolist())
        keys, clock = keys_of(self.seed, salt, events), Clock.of(self.network.timing, self.places)
        ways = []
        for publisher, key in zip(publishers.tolist(), keys.tolist(), strict=True):
            route = RouteSender(self.network, clock, Dice(key).of_peer(ENTERING), retries)
            contacts, way = self.entries.contact[publisher], Way([], [])
            for place, contact in enumerate(contacts[contacts >= 0].tolist()):
                copies, arrives = route.send(publisher, contact, place * clock.occupied)
                way.payers.extend([publisher] * copies)
                if arrives is not None:
                    way.reached.append((contact, 1, arrives))
            ways.append(way)
        return Starts.of(publishers.tolist(), ways)

    def entry_links(self) -> dict[str, Integers]:
        """Contacts in other groups, where there are any."""
        if self.entries is None:
            return {}
        return {"entries": (self.entries.contact >= 0).sum(axis=(1, 2))[self.peer_of]}


def counts(lists: Sequence[Sequence[int]]) -> Integers:
    """Lengths of lists."""
    return np.array([len(row) for row in lists], np.int64)
