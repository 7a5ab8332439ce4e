"""Recovery of missed events between live peers, whose answers take time.

The rules are those of `sub2sub.peers.recovery`. A peer sends its digests at each tick. A neighbour
answers with the events that it lacks and has not asked another peer for, and receives them as usual. A peer
that recovers an event announces it to its own neighbours at once by digests, since most of them have it. A
neighbour that does not answer is skipped until the next cycle. Digests carry the ages of events; without
them, peers would recover an old event from one another for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from typing import NamedTuple

from sub2sub.live.core import messages as m
from sub2sub.live.core.clock import Clock
from sub2sub.live.core.exchanges import Exchange, Exchanges
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.recovery import History
from sub2sub.peers.settings import RecoverySettings

BYTES = 4 << 20  # of events that are kept; beyond that, the oldest are dropped
ASKED = 4096  # events asked for that have not arrived yet


class Asked(NamedTuple):
    """When an event was asked for, and when it was published."""

    when: int
    published: int


class EventRecovery:
    """The recent events of one live peer.

    Parameters
    ----------
    settings : RecoverySettings
        In cycles; with a history of 0, no event is kept.
    clock : Clock
    exchanges : Exchanges
    ring : callable
        The ring neighbours, in the order of the ring.
    seen : container of bytes
        Names of events that the peer has received, also long ago.
    """

    def __init__(
        self, settings: RecoverySettings, clock: Clock, exchanges: Exchanges,
        ring: Callable[[], list[Descriptor]], seen: Container[bytes],
    ) -> None:  # fmt: skip
        self.on = settings.history > 0
        self.history: History[bytes] = History(replace(settings, history=settings.history * clock.unit))
        self.clock, self.exchanges, self.ring, self.seen = clock, exchanges, ring, seen
        self.events: dict[bytes, m.Event] = {}
        self.asked: dict[bytes, Asked] = {}
        self._bytes = 0

    def tick(self, patience: int) -> list[m.Send]:
        """Drop old events; return digests of the events that neighbours may lack."""
        if not self.on:
            return []
        self.history.begin_cycle(self.clock.now)
        for name in [name for name in self.events if name not in self.history.events]:
            self._forget(name)
        before = self.clock.now - patience
        self.asked = {name: asked for name, asked in self.asked.items() if asked.when >= before}
        return self._digests(self.history.events)

    def keep(self, event: m.Event) -> None:
        """Keep a new event."""
        if not self.on:
            return
        asked = self.asked.get(event.name)
        self.history.add(event.name, event.point, asked.published if asked else self.clock.now)
        self.events[event.name] = event
        self._bytes += len(event.data)
        while self._bytes > BYTES:
            self._forget(next(iter(self.events)))

    def has_it(self, name: bytes, id: int) -> None:
        """Note that a peer has an event."""
        if name in self.history.events:
            self.history.has_it(name, id, self.ring())

    def goes_on(self, name: bytes) -> list[m.Send] | None:
        """Digests that announce a recovered event; None for an event that was not asked for."""
        return self._digests([name]) if self.asked.pop(name, None) is not None else None

    def answer(self, message: m.Digest, sender: int) -> m.Send:
        """Ask for the events of a digest that this peer lacks."""
        lacking, now = list[bytes](), self.clock.now
        for name, age in zip(message.names, message.ages, strict=False):
            if name in self.seen or not self.on:
                self.has_it(name, sender)
            elif name not in self.asked and len(self.asked) < ASKED and age <= self.history.settings.history:
                lacking.append(name)
                self.asked[name] = Asked(now, now - age)
        return m.Send(None, m.Lacking(message.exchange, tuple(lacking)))

    def finish(self, exchange: Exchange, message: m.Lacking) -> list[m.Send]:
        """Send a neighbour the events that it lacks, and note that it has the others."""
        lacking = set(message.names)
        for name in set(exchange.names) - lacking:
            self.has_it(name, exchange.partner.id)
        wanted = [name for name in exchange.names if name in lacking and name in self.events]
        return [m.Send(exchange.partner, self.events[name]) for name in wanted]

    def fail(self, exchange: Exchange) -> list[m.Send]:
        """Send the digest of a silent neighbour to the neighbours beyond it."""
        self.history.silent.add(exchange.partner.id)
        return self._digests(name for name in exchange.names if name in self.history.events)

    def _digests(self, names: Iterable[bytes]) -> list[m.Send]:
        ring = self.ring()
        peers = {peer.id: peer for peer in ring}
        sends = []
        for id, told in self.history.digests(ring, names).items():
            for first in range(0, len(told), m.MAX_NAMES):
                part = tuple(told[first : first + m.MAX_NAMES])
                ages = tuple(max(self.clock.now - self.history.events[name].since, 0) for name in part)
                number = self.exchanges.begin(Exchange(m.Lacking, peers[id], self.clock.now, names=part))
                sends.append(m.Send(peers[id], m.Digest(number, part, ages)))
        return sends

    def _forget(self, name: bytes) -> None:
        self._bytes -= len(self.events.pop(name).data)
        self.history.events.pop(name, None)
