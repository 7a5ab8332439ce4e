"""An event sent down a tree that is known beforehand: a broker's star, or a tree of matching subscribers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from sims.rivals.base.accounts import Ledger, keys_of
from sims.rivals.base.entrants import Compared
from sims.rivals.base.push_tables import PushRules, PushTables, Rows, Starts
from sims.rivals.base.streams import spread_stream
from sims.rivals.base.system import Floats, Integers, Publication
from sub2sub.compiled.common.network import repeated
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.timing.agenda import clear, departure, new_agenda
from sub2sub.compiled.timing.latency import Clock, travel

Plan = tuple[Integers, Integers]  # nodes, and the place of each one's parent


class KnownTrees(Compared):
    """A system in which an event goes down a tree that is known when it is published."""

    open_to_others = True
    streams = True

    @classmethod
    def for_hosts(cls) -> type[Compared]:
        """Return the same: a host is one peer, whatever it wants."""
        return cls

    @abstractmethod
    def plan(self, event: int, publisher: int, settings: Any) -> Plan:
        """The tree of one event."""

    def spread(self, asked: Publication, settings: Any) -> Outcome:
        """Send each event down its tree."""
        truth, faults, keys = self.truth, self.network.faults(), keys_of(self.seed, asked.salt, asked.events)
        members = len(truth.host)
        if asked.at is not None:
            return self._stream(asked, asked.at, settings)
        traced = np.empty(members, np.int32), np.empty(members, np.int64), np.empty(members, np.int64)
        ledger = Ledger(truth, self.network, asked, asked.publishers)
        clock = Clock.of(self.network.timing, truth.places)
        agenda = new_agenda(members, clock)
        for k, (event, publisher) in enumerate(zip(asked.events, asked.publishers, strict=True)):
            nodes, parents = self.plan(int(event), int(publisher), settings)
            descend(nodes, parents, settings.retries, faults, keys[k], clock, agenda, traced)
            ledger.enter(k, *traced, agenda.when)
        return ledger.outcome(settings.retries > 0)

    def _stream(self, asked: Publication, at: Floats, settings: Any) -> Outcome:
        """Send events down their trees, whose nodes share their uplinks."""
        tables = []
        for event, publisher in zip(asked.events.tolist(), asked.publishers.tolist(), strict=True):
            nodes, parents = self.plan(event, publisher, settings)
            order = np.argsort(nodes[parents[1:]], kind="stable")
            count = np.bincount(nodes[parents[1:]], minlength=len(self.truth.host))
            links = Rows(np.append(0, np.cumsum(count)), nodes[1:][order].astype(np.int32))
            nobody = Rows(np.zeros(len(count) + 1, np.int64), np.empty(0, np.int32))
            tables.append(PushTables(links, nobody, nobody))
        rules, starts = PushRules(retries=settings.retries), Starts.of(asked.publishers.tolist())
        return spread_stream(tables, rules, asked, starts, self.network, self.truth, at, self.seed)


@kernel
def descend(nodes, parents, retries, faults, key, clock, agenda, traced):
    """Send an event from each node to its children, each message again while it is not acknowledged.

    Parameters
    ----------
    nodes : int64 array
        Members, parents before their children, the root first.
    parents : int64 array
        The place of each node's parent among them; not used for the root.
    retries : int
    faults : Faults
    key : uint64
        The draws of a child decide which copies sent to it are lost.
    clock, agenda : Clock, Agenda
        Routes do not depend on time, so the agenda only records when copies arrive.
    traced : (first, sent, arrived)
        Arrays of all members that are filled: hop of the first copy or -1, messages sent, copies that came.
    """
    first, sent, arrived = traced
    first[:], sent[:], arrived[:] = -1, 0, 0
    clear(agenda)
    first[nodes[0]], agenda.when[nodes[0]] = 0, 0.0
    for place in range(1, len(nodes)):
        parent, child = nodes[parents[place]], nodes[place]
        if first[parent] < 0:
            continue
        leaves = departure(clock, agenda.free, parent, child, agenda.when[parent], 0)
        own = peer_key(key, child)
        copies, came, number = repeated(faults, parent, child, own, 0, retries)
        sent[parent] += copies
        arrived[child] += came
        if came > 0:
            first[child] = first[parent] + 1
            agenda.when[child] = leaves + travel(clock, parent, child, number, own)
