"""Publishing by push, announcement and request, for many events, with counts by subscriber."""

from __future__ import annotations

import numpy as np

from sims.anchors.groups import GroupStack
from sims.anchors.pushing.dissemination import PushWorld, push_event, scratch_for
from sims.anchors.pushing.tables import PushRules, PushTables, Starts
from sims.systems.gossip import Truth, keys_of
from sims.systems.interface import Integers, System
from sub2sub.events.accounting import (
    ACKS,
    CONTROL,
    FAILED,
    MESSAGES,
    account,
    outcome_of,
)
from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions
from sub2sub.kernels.compilation import kernel
from sub2sub.overlay.network import Network
from sub2sub.timing.latency import Clock


def push_all(
    tables: PushTables,
    rules: PushRules,
    network: Network,
    truth: Truth,
    events: Integers,
    publishers: Integers,
    starts: Starts,
    keys: np.ndarray,
    record: bool = False,
) -> Outcome:
    """Push events over tables.

    Parameters
    ----------
    tables, rules : PushTables, PushRules
    network : Network
        Of the members.
    truth : Truth
        For accounting.
    events, publishers : (m,) int64
        Numbers of events, and the peers that publish them.
    starts : Starts
        The members at which each event starts.
    keys : (m,) uint64
        Of each event's draws.
    record : bool
        Whether to record receptions.
    """
    clock = Clock.of(network.timing, truth.places)
    world = PushWorld(tables, rules, network.faults(), clock)
    totals = truth.new_totals(events, clock.timed)
    scratch = scratch_for(world, int(np.diff(starts.first.start).max(initial=1)))
    first = np.empty((len(events) if record else 1, len(truth.host)), np.int32)
    when = np.empty((len(events) if record and clock.timed else 0, len(truth.host)))
    _push_all(world, truth, (events, publishers, keys), starts, scratch, (first, when), totals)
    if rules.retries:
        totals.events[:, ACKS] = totals.events[:, MESSAGES] - totals.events[:, FAILED]
    received = Receptions.of_members(first, truth.host, when) if record else None
    return outcome_of(totals, publishers, received)


@kernel
def _push_all(world, truth, published, starts, scratch, traced, totals):
    events, publishers, keys = published
    first, when = traced
    for k in range(len(events)):
        push_event(world, starts, k, keys[k], scratch)
        first[min(k, len(first) - 1)] = scratch.first
        if k < len(when):
            when[k] = scratch.when
        e = events[k]
        wanting = truth.members[truth.offsets[e] : truth.offsets[e + 1]]
        account(
            k, wanting, publishers[k], truth.alive, truth.host, scratch.first, scratch.sent, scratch.arrived,
            scratch.when, totals,
        )  # fmt: skip
        totals.events[k, CONTROL] = scratch.control[0]


class Pushed(System):
    """A system that pushes events over links, on a stack whose peers may ask a rendezvous for contacts."""

    overlay: GroupStack

    def spent(self) -> tuple[Integers, Integers] | None:
        """With what the rendezvous was asked."""
        own, asked = super().spent(), self.overlay.spent_asking()
        if own is None:
            return None
        return own[0] + self.by_subscriber(asked[0]), own[1] + self.by_subscriber(asked[1])

    def push(
        self,
        tables: PushTables,
        rules: PushRules,
        events: Integers,
        publishers: Integers,
        starts: Starts,
        salt: int,
        record: bool,
        network: Network | None = None,
        truth: Truth | None = None,
    ) -> Outcome:
        """Call `push_all` with the network, truth and keys of this system."""
        return push_all(
            tables, rules, network or self.network, truth or Truth.of(self), events, publishers, starts,
            keys_of(self.seed, salt, events), record,
        )  # fmt: skip
