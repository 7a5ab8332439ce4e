"""An event sent down a tree that is known beforehand: a broker's star, or a tree of matching subscribers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from sims.rivals.base.accounts import Ledger, keys_of
from sims.rivals.base.entrants import Compared
from sims.rivals.base.system import Integers, Publication
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

    @abstractmethod
    def plan(self, event: int, publisher: int, settings: Any) -> Plan:
        """The tree of one event."""

    def spread(self, asked: Publication, settings: Any) -> Outcome:
        """Send each event down its tree."""
        truth, faults, keys = self.truth, self.network.faults(), keys_of(self.seed, asked.salt, asked.events)
        members = len(truth.host)
        traced = np.empty(members, np.int32), np.empty(members, np.int64), np.empty(members, np.int64)
        ledger = Ledger(truth, self.network, asked, asked.publishers)
        clock = Clock.of(self.network.timing, truth.places)
        agenda = new_agenda(members, clock)
        for k, (event, publisher) in enumerate(zip(asked.events, asked.publishers, strict=True)):
            nodes, parents = self.plan(int(event), int(publisher), settings)
            descend(nodes, parents, settings.retries, faults, keys[k], clock, agenda, traced)
            ledger.enter(k, *traced, agenda.when)
        return ledger.outcome(settings.retries > 0)


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
