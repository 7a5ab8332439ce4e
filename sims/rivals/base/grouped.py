"""Systems whose peers push events over links; base of those with a group for each topic.

If interests are topics, a subscriber is a member of its topic's group only. An event of a topic is pushed in
its group and in the groups of the topics above, where its publisher sends it to a few members it knows
(`sims.rivals.base.groups.Entries`). If interests are ranges, all subscribers are in one group and receive all
events.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sims.config.entries import Kinds
from sims.config.interests import WorkloadSettings
from sims.observers import Connectivity, Degrees
from sims.observers.deliveries import Deliveries
from sims.rivals.base.accounts import ENTERING, Ledger, RouteSender, keys_of
from sims.rivals.base.entrants import Compared
from sims.rivals.base.groups import ENTRIES, Entries, Groups, GroupStack
from sims.rivals.base.push_tables import PushRules, PushTables, Starts, Way
from sims.rivals.base.pushing import PushContext, push_event, scratch_for
from sims.rivals.base.streams import spread_stream
from sims.rivals.base.system import Integers, Publication, Truth
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock
from sub2sub.overlay.population import Population
from sub2sub.peers.draws import Dice


class Pushed(Compared):
    """A system that pushes events over links, on a stack whose peers may ask a rendezvous for contacts."""

    workload: ClassVar[type] = WorkloadSettings
    observers: ClassVar[Kinds] = {"delivery": Deliveries, "degrees": Degrees, "connectivity": Connectivity}
    overlay: GroupStack
    streams = True

    def spent(self) -> tuple[Integers, Integers] | None:
        """Including requests to the rendezvous."""
        own, asked = super().spent(), self.overlay.spent_asking()
        if own is None:
            return None
        return own[0] + self.by_subscriber(asked[0]), own[1] + self.by_subscriber(asked[1])

    def push(
        self,
        tables: PushTables,
        rules: PushRules,
        asked: Publication,
        starts: Starts,
        network: Network | None = None,
        truth: Truth | None = None,
    ) -> Outcome:
        """Push events over tables, by default with the network and the truth of this system."""
        network, truth = network or self.network, truth or self.truth
        if asked.at is not None:
            each = [tables] * len(asked.events)
            return spread_stream(each, rules, asked, starts, network, truth, asked.at, self.seed)
        context = PushContext(tables, rules, network.faults(), Clock.of(network.timing, truth.places))
        scratch = scratch_for(context, int(np.diff(starts.first.start).max(initial=1)))
        ledger = Ledger(truth, network, asked, asked.publishers)
        for k, key in enumerate(keys_of(self.seed, asked.salt, asked.events)):
            push_event(context, starts, k, key, scratch)
            control = int(scratch.control[0])
            ledger.enter(k, scratch.first, scratch.sent, scratch.arrived, scratch.when, control)
        return ledger.outcome(rules.retries > 0)


class Grouped(Pushed):
    """A system of groups."""

    open_to_others = True

    within: ClassVar[bool] = True  # whether first contacts are in one's group
    entered = ENTRIES  # members of a group above that a publisher sends its event to

    @classmethod
    def for_hosts(cls) -> type[Compared]:
        """Return the same: a host is one peer, whatever it wants."""
        return cls

    def build(self, layers: Any, spare: int) -> GroupStack:
        """Groups, the protocol's own layers, and contacts in other groups."""
        population = self.make_population(spare)
        self.groups = Groups(population, self.wanted.topics.ranges if self.wanted.topics else None)
        own = self.protocol(population, layers)
        self.entries = Entries(self.groups, self.seed, self.entered) if self.wanted.topics else None
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

    @abstractmethod
    def own_links(self) -> dict[str, Sequence[Sequence[int]]]:
        """Links of each peer, by kind."""

    def spread(self, asked: Publication, settings: Any) -> Outcome:
        """Push each event in its publisher's group, and in the groups above."""
        rules = self.rules(settings)
        starts = self.starts(asked, rules.retries)
        return self.push(self.computed("tables", self.tables), rules, asked, starts)

    def starts(self, asked: Publication, retries: int) -> Starts:
        """The members that publishers reach in the groups above theirs."""
        publishers = asked.publishers.tolist()
        if self.entries is None:
            return Starts.of(publishers)
        keys = keys_of(self.seed, asked.salt, asked.events).tolist()
        clock, ways = Clock.of(self.network.timing, self.truth.places), []
        for publisher, key in zip(publishers, keys, strict=True):
            route = RouteSender(self.network, clock, Dice(key).of_peer(ENTERING), retries)
            contacts, way = self.entries.contact[publisher], Way([], [])
            for place, contact in enumerate(contacts[contacts >= 0].tolist()):
                copies, came, arrives = route.send(publisher, contact, place * clock.occupied)
                way.payers.extend([publisher] * copies)
                if arrives is not None:
                    way.reached.extend([(contact, 1, arrives)] * came)
            ways.append(way)
        return Starts.of(publishers, ways)

    def links(self) -> dict[str, Integers]:
        """Those of the protocol, and contacts in other groups, where there are any."""
        found = {kind: self.by_subscriber(counts(links)) for kind, links in self.own_links().items()}
        if self.entries is not None:
            found["entries"] = self.by_subscriber((self.entries.contact >= 0).sum(axis=(1, 2)))
        return found


def counts(lists: Sequence[Sequence[int]]) -> Integers:
    """Lengths of lists."""
    return np.array([len(row) for row in lists], np.int64)
