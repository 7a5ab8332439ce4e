"""The events of a live peer: it takes, delivers and forwards them, and sends them past peers that fail.

`sub2sub.peers.forwarding` chooses the peers to forward to, and `event_recovery` recovers missed events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import Clock
from sub2sub.live.core.event_recovery import EventRecovery
from sub2sub.peers.descriptors import Coordinates, Descriptor
from sub2sub.peers.draws import Dice
from sub2sub.peers.forwarding import Forwarder, PeerLinks


class EventPassing:
    """The events of one live peer.

    Parameters
    ----------
    own : Descriptor
    deliver : callable
        Called once with each event that the peer wants.
    forwarder : Forwarder
    recovery : EventRecovery
    clock : Clock
    views : callable
        The links along which events are forwarded.
    counts : Counter
        Counts what happens to events.
    """

    def __init__(
        self,
        own: Descriptor,
        deliver: Callable[[m.Event], None],
        forwarder: Forwarder[m.Event],
        recovery: EventRecovery,
        clock: Clock,
        views: Callable[[], PeerLinks],
        counts: Counter[str],
    ) -> None:
        self.own, self.deliver, self.forwarder, self.recovery = own, deliver, forwarder, recovery
        self.clock, self.views, self.counts = clock, views, counts

    def receive(self, event: m.Event, sender: int, dice: Callable[[], Dice]) -> list[m.Send]:
        """Take or refuse an event that a peer sends."""
        if not self.wants(event.point):
            return [m.Send(None, m.Taken(event.name, took=False))]
        return [m.Send(None, m.Taken(event.name, took=True)), *self.take(event, sender, dice)]

    def wants(self, point: Coordinates) -> bool:
        """Whether the peer wants the events at a point; counts those that it does not want."""
        wanted = len(point) == self.own.d and self.own.matches(point)
        self.counts["spam"] += not wanted
        return wanted

    def take(self, event: m.Event, sender: int | None, dice: Callable[[], Dice]) -> list[m.Send]:
        """Deliver and forward an event, if it is new."""
        if not self.forwarder.is_new(event.name):
            self.counts["duplicates"] += 1
            if sender is not None:
                self.recovery.has_it(event.name, sender)
            return []
        self.counts["delivered"] += 1
        self.deliver(event)
        if event.hops >= m.MAX_HOPS:
            self.counts["too far"] += 1
            return []
        onward = replace(event, hops=event.hops + 1)
        self.recovery.keep(onward)
        if sender is not None:
            self.recovery.has_it(event.name, sender)
        digests = self.recovery.goes_on(event.name)
        if digests is not None:
            self.counts["recovered"] += 1
            return digests
        targets = self.forwarder.begin(onward, sender, self.views(), self.clock.now, dice())
        return [m.Send(peer, onward) for peer in targets]

    def taken(self, name: bytes, by: int) -> None:
        """Note that a peer has an event."""
        self.forwarder.taken(name, by)
        self.recovery.has_it(name, by)

    def instead(self, name: bytes, id: int) -> list[m.Send]:
        """Send an event to other peers instead of one that did not take it."""
        forwarding = self.forwarder.open.get(name)
        if forwarding is None:
            return []
        targets = self.forwarder.failed(name, id, self.views(), self.clock.now)
        return [m.Send(peer, forwarding.event) for peer in targets]
