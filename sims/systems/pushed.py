"""Publishing by push, announcement and request."""

from __future__ import annotations

import numpy as np

from sims.anchors.groups import GroupStack
from sims.anchors.pushing.dissemination import PushContext, push_event, scratch_for
from sims.anchors.pushing.tables import PushRules, PushTables, Starts
from sims.systems.interface import Integers, System
from sims.systems.ledger import Ledger, Truth, keys_of
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.timing.latency import Clock


class Pushed(System):
    """A system that pushes events over links, on a stack whose peers may ask a rendezvous for contacts."""

    overlay: GroupStack

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
        events: Integers,
        publishers: Integers,
        starts: Starts,
        salt: int,
        record: bool,
        network: Network | None = None,
        truth: Truth | None = None,
    ) -> Outcome:
        """Push events over tables, by default with the network and the truth of this system."""
        network, truth = network or self.network, truth or Truth.of(self)
        clock = Clock.of(network.timing, truth.places)
        context = PushContext(tables, rules, network.faults(), clock)
        scratch = scratch_for(context, int(np.diff(starts.first.start).max(initial=1)))
        ledger = Ledger(truth, network, events, publishers, record)
        for k, key in enumerate(keys_of(self.seed, salt, events)):
            push_event(context, starts, k, key, scratch)
            control = int(scratch.control[0])
            ledger.enter(k, scratch.first, scratch.sent, scratch.arrived, scratch.when, control)
        return ledger.outcome(rules.retries > 0)
