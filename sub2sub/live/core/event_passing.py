"""A live peer and events: it takes, delivers and forwards them, and sends them past those that fail.

Every decision is `sub2sub.events.peer`'s, the recovery of missed events is `event_recovery`'s, and the
choice of peers to rely on is `reliance`'s; here they meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from sub2sub.events.peer import Forwarder, Views
from sub2sub.kernels.dice import Dice
from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import Clock
from sub2sub.live.core.event_recovery import EventRecovery
from sub2sub.live.core.reliance import Reliance
from sub2sub.overlay.descriptors import Link
from sub2sub.ring.peer import RingPeer


class EventPassing:
    """The events of one live peer.

    Parameters
    ----------
    deliver : callable
        Called with each event the peer wants, once.
    accepts : callable
        Whether an event is to be taken.
    forwarder : Forwarder
    recovery : EventRecovery
    reliance : Reliance or None
        Which peers to rely on; None: on all, as in the simulator.
    ring : RingPeer
    clock : Clock
    views : callable
        What events are forwarded along.
    counts : Counter
        Where to note what happened.
    """

    def __init__(
        self,
        deliver: Callable[[m.Event], None],
        accepts: Callable[[Any], bool],
        forwarder: Forwarder[m.Event],
        recovery: EventRecovery,
        reliance: Reliance | None,
        ring: RingPeer,
        clock: Clock,
        views: Callable[[], Views],
        counts: Counter[str],
    ) -> None:
        self.deliver, self.accepts, self.forwarder, self.recovery = deliver, accepts, forwarder, recovery
        self.reliance, self.ring, self.clock, self.views, self.counts = reliance, ring, clock, views, counts

    def tick(self) -> None:
        """Let accounts follow the ring view, and remove neighbours that have passed on nothing from it."""
        self._look()
        for id in self.reliance.bar(self.clock.now) if self.reliance else ():
            self.counts["barred"] += 1
            self.ring.remove(id, self.clock.now)

    def receive(self, event: m.Event, sender: int, dice: Callable[[], Dice]) -> list[m.Send]:
        """Take an event that a peer brings, or refuse it."""
        if self.refuses(event):
            return [m.Send(None, m.Taken(event.name, took=False))]
        return [m.Send(None, m.Taken(event.name, took=True)), *self.take(event, sender, dice)]

    def refuses(self, event: Any) -> bool:
        """Whether the peer does not want an event, or does not accept it; either is counted."""
        own, point = self.ring.own, event.point
        if len(point) != own.d or not own.matches(point):
            self.counts["spam"] += 1
            return True
        refused = event.name not in self.forwarder.seen and not self.accepts(event)
        self.counts["refused events"] += refused
        return refused

    def take(self, event: m.Event, sender: int | None, dice: Callable[[], Dice]) -> list[m.Send]:
        """Deliver an event that is new, and forward it."""
        if not self.forwarder.is_new(event.name):
            self.counts["duplicates"] += 1
            if sender is not None:
                self.recovery.has_it(event.name, sender)
            return []
        self.counts["delivered"] += 1
        if sender is not None and self.reliance:
            self.reliance.brought(sender)
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
        drawn = dice()
        views, passed = self._views_for(event, drawn)
        targets = self.forwarder.begin(onward, sender, views, self.clock.now, drawn, passed)
        return [m.Send(peer, onward) for peer in targets]

    def taken(self, name: bytes, by: int) -> None:
        """Note that a peer has an event."""
        if self.forwarder.taken(name, by) and self.reliance:
            self.reliance.took(by)
        self.recovery.has_it(name, by)

    def instead(self, name: bytes, id: int) -> list[m.Send]:
        """Send an event on past a peer that did not take it."""
        forwarding = self.forwarder.open.get(name)
        if forwarding is None:
            return []
        if self.reliance:
            self.reliance.forget(id)
        views, passed = self._views_for(forwarding.event, forwarding.dice)
        targets = self.forwarder.failed(name, id, views, self.clock.now, passed)
        return [m.Send(peer, forwarding.event) for peer in targets]

    def _views_for(self, event: m.Event, dice: Dice) -> tuple[Views, Collection[int]]:
        """The views by which an event is forwarded, and IDs of peers past which it has to go."""
        views = self.views()
        if self.reliance is None:
            return views, ()
        self._look()
        ring, passed = self.reliance.order(event.point, views.ring, [*views.near, *views.random], dice)
        return views._replace(ring=ring), passed

    def _look(self) -> None:
        if self.reliance:
            is_outdated, now = self.ring.is_outdated, self.clock.now
            self.reliance.look(self.ring.view, now, lambda each: is_outdated(Link(each.peer, each.stamp)))
