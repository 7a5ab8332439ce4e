"""The events of a live peer: it takes, delivers and forwards them, and sends them past peers that fail.

`sub2sub.events.peer` chooses the peers to forward to, `event_recovery` recovers missed events, and `reliance`
decides which peers to rely on. This module combines the three.
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
        Called once with each event that the peer wants.
    accepts : callable
        Whether to take an event.
    forwarder : Forwarder
    recovery : EventRecovery
    reliance : Reliance or None
        Which peers to rely on; None to rely on all, as in the simulator.
    ring : RingPeer
    clock : Clock
    views : callable
        The links along which events are forwarded.
    counts : Counter
        Counts what happens to events.
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
        """Update the accounts after the ring view, and remove neighbours that have passed nothing on."""
        self._look()
        for id in self.reliance.bar(self.clock.now) if self.reliance else ():
            self.counts["barred"] += 1
            self.ring.remove(id, self.clock.now)

    def receive(self, event: m.Event, sender: int, dice: Callable[[], Dice]) -> list[m.Send]:
        """Take or refuse an event that a peer sends."""
        if self.refuses(event):
            return [m.Send(None, m.Taken(event.name, took=False))]
        return [m.Send(None, m.Taken(event.name, took=True)), *self.take(event, sender, dice)]

    def refuses(self, event: Any) -> bool:
        """Whether the peer does not want an event, or does not accept it; counts both."""
        own, point = self.ring.own, event.point
        if len(point) != own.d or not own.matches(point):
            self.counts["spam"] += 1
            return True
        refused = event.name not in self.forwarder.seen and not self.accepts(event)
        self.counts["refused events"] += refused
        return refused

    def take(self, event: m.Event, sender: int | None, dice: Callable[[], Dice]) -> list[m.Send]:
        """Deliver and forward an event, if it is new."""
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
        views, doubted = self._views_for(event, drawn)
        targets = self.forwarder.begin(onward, sender, views, self.clock.now, drawn, doubted)
        return [m.Send(peer, onward) for peer in targets]

    def taken(self, name: bytes, by: int) -> None:
        """Note that a peer has an event."""
        if self.forwarder.taken(name, by) and self.reliance:
            self.reliance.took(by)
        self.recovery.has_it(name, by)

    def instead(self, name: bytes, id: int) -> list[m.Send]:
        """Send an event to other peers instead of one that did not take it."""
        forwarding = self.forwarder.open.get(name)
        if forwarding is None:
            return []
        if self.reliance:
            self.reliance.forget(id)
        views, doubted = self._views_for(forwarding.event, forwarding.dice)
        targets = self.forwarder.failed(name, id, views, self.clock.now, doubted)
        return [m.Send(peer, forwarding.event) for peer in targets]

    def _views_for(self, event: m.Event, dice: Dice) -> tuple[Views, Collection[int]]:
        """The views by which to forward an event, and IDs of doubted peers: it goes past these, too."""
        views = self.views()
        if self.reliance is None:
            return views, ()
        self._look()
        ring, doubted = self.reliance.order(event.point, views.ring, [*views.near, *views.random], dice)
        return views._replace(ring=ring), doubted

    def _look(self) -> None:
        if self.reliance:
            is_outdated, now = self.ring.is_outdated, self.clock.now
            self.reliance.look(self.ring.view, now, lambda each: is_outdated(Link(each.peer, each.stamp)))
