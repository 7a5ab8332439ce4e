"""How one peer forwards an event: to which peers, and which answers it still waits for.

Sub-2-Sub, Section 4.2; `sub2sub.compiled.events.forwarding` lists the deviations and additions. Live peers
run this, and the kernels must make the same decisions with the same random numbers.

`forward` is the rule. It calls `send` for each message, which returns whether the peer took the event. In the
tests `send` delivers the message at once. Live peers wait some cycles for an answer: `Forwarder` keeps the
peers that have failed so far, calls `forward` again with the same random numbers when one more fails, and
sends the event to the additional targets. Live connections repeat lost messages themselves.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from sub2sub.peers.descriptors import Coordinates, Descriptor
from sub2sub.peers.draws import Dice, stream_number
from sub2sub.peers.settings import DisseminationSettings

STREAM = stream_number("dissemination")

# The first draw of a peer for each purpose. Two draws per message: is it lost, is its acknowledgement lost?
SHORTCUT, LOSS = 0, 1 << 32

EventT = TypeVar("EventT", bound="Event")


class PeerLinks(NamedTuple):
    """The links of a peer; ring neighbours in the order of the ring, beginning with its successor."""

    near: Sequence[Descriptor]
    random: Sequence[Descriptor]
    ring: Sequence[Descriptor]


@dataclass
class Turn:
    """A peer's turn to forward one event; see `forward` for the fields."""

    point: Coordinates
    came_from: int | None
    settings: DisseminationSettings
    send: Callable[[Descriptor, int | None], bool | None]
    sent: dict[int, Descriptor] = field(default_factory=dict)  # the targets, by ID

    def follow_ring(self, neighbours: Sequence[Descriptor]) -> Descriptor | None:
        """Forward to the nearest neighbour that matches; if it does not take the event, to the next ones.

        A target is where both ways around the ring meet: behind it are only targets of the other way. Returns
        the nearest neighbour that has the event now, as far as this peer knows, None if there is none.
        """
        failed = 0
        for peer in neighbours:
            if not peer.matches(self.point):
                continue
            if failed > self.settings.retries:
                return None
            if peer.id == self.came_from or peer.id in self.sent:
                return peer
            if self.takes(peer, failed * self.settings.tries):
                return peer
            failed += 1
        return None

    def follow_shortcuts(self, links: list[Descriptor], count: int, dice: Dice) -> None:
        """Forward to `count` random links that match, without acknowledgement."""
        left = count
        for k in range(len(links)):
            if left <= 0:
                return
            other = k + dice.below(SHORTCUT + k, len(links) - k)
            links[k], links[other] = links[other], links[k]
            peer = links[k]
            if peer.id != self.came_from and peer.id not in self.sent and peer.matches(self.point):
                self.sent[peer.id] = peer
                self.send(peer, None)
                left -= 1

    def takes(self, peer: Descriptor, waited: int) -> bool:
        """Send the event to a peer, again while it does not answer; whether it takes it."""
        self.sent[peer.id] = peer
        for again in range(self.settings.tries):
            answer = self.send(peer, waited + again)
            if answer is not None:
                return answer
        return False


def forward(
    views: PeerLinks,
    point: Coordinates,
    came_from: int | None,
    settings: DisseminationSettings,
    dice: Dice,
    send: Callable[[Descriptor, int | None], bool | None],
) -> dict[int, Descriptor]:
    """Forward an event to the adjacent ring neighbours and along random shortcuts; the targets by ID.

    Parameters
    ----------
    point : tuple of float
        The event.
    came_from : int or None
        ID of the peer that sent it, None at its publisher.
    dice : Dice
        The peer's random numbers for this event.
    send : callable
        `send(peer, waited)` sends the event to a peer and returns whether the peer says that it has it now,
        None if it does not answer. `waited` is the number of messages in this direction that were not
        answered before, None if no answer is expected.

    Examples
    --------
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (20, 30, 40))
    >>> two = DisseminationSettings(shortcuts=0)
    >>> links = PeerLinks([], [], [a, b, c])
    >>> sorted(forward(links, (0.5,), None, two, Dice(1), lambda peer, waited: True))
    [20, 40]
    >>> sorted(forward(links, (0.5,), None, two, Dice(1), lambda peer, _: peer.id != 20))
    [20, 30, 40]
    >>> answers = iter([None, True, True])  # the first message is lost, and sent again
    >>> sorted(forward(links, (0.5,), None, two, Dice(1), lambda peer, _: next(answers)))
    [20, 40]
    """
    turn = Turn(point, came_from, settings, send)
    turn.follow_ring(views.ring)
    turn.follow_ring(views.ring[::-1])
    shortcuts = [*views.near, *views.random, *(views.ring if settings.ring_shortcuts else ())]
    turn.follow_shortcuts(shortcuts, settings.shortcuts, dice)
    return turn.sent


class Event(Protocol):
    """The attributes of an event that forwarding needs."""

    @property
    def name(self) -> bytes:
        """Identifies the event at every peer."""

    @property
    def point(self) -> Coordinates:
        """Its point in the attribute space."""

    @property
    def data(self) -> bytes:
        """Its content."""
        ...


@dataclass
class Forwarding(Generic[EventT]):
    """One event that a peer forwards: its targets, and those that have not answered yet."""

    event: EventT
    came_from: int | None
    dice: Dice
    waiting: dict[int, int] = field(default_factory=dict)  # when it was sent to each target, by ID
    sent: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)


class Forwarder(Generic[EventT]):
    """The events of one peer: it takes and forwards each once, and forwards it past neighbours that fail.

    Parameters
    ----------
    memory : int
        The number of events remembered as seen, and of those that wait for acknowledgements.
    space : int
        The largest total size, in bytes, of events that wait for acknowledgements; one event may exceed it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (20, 30, 40))
    >>> views, forwarder = PeerLinks([], [], [a, b, c]), Forwarder(DisseminationSettings(shortcuts=0))
    >>> forwarder.is_new(b"event"), forwarder.is_new(b"event")
    (True, False)
    >>> event = SimpleNamespace(name=b"event", point=(0.5,), data=b"")
    >>> [peer.id for peer in forwarder.begin(event, None, views, 7, Dice(1))]
    [20, 40]
    >>> [peer.id for peer in forwarder.failed(b"event", 20, views, 8)]
    [30]
    """

    def __init__(self, settings: DisseminationSettings, memory: int = 65536, space: int = 1 << 24) -> None:
        self.settings, self.memory, self.space, self.held = settings, memory, space, 0
        self.seen: OrderedDict[bytes, None] = OrderedDict()
        self.open: OrderedDict[bytes, Forwarding[EventT]] = OrderedDict()

    def is_new(self, name: bytes) -> bool:
        """Whether an event is seen for the first time; it is remembered."""
        if name in self.seen:
            return False
        self.seen[name] = None
        if len(self.seen) > self.memory:
            self.seen.popitem(last=False)
        return True

    def begin(
        self, event: EventT, came_from: int | None, views: PeerLinks, now: int, dice: Dice
    ) -> list[Descriptor]:
        """Forward a new event; the targets."""
        self.open[event.name] = Forwarding(event, came_from, dice)
        self.held += len(event.data)
        while len(self.open) > self.memory or (self.held > self.space and len(self.open) > 1):
            self._close(next(iter(self.open)))
        return self._next(event.name, views, now)

    def taken(self, name: bytes, by: int) -> bool:
        """Record that a peer has an event; whether this answer was awaited."""
        if name not in self.open:
            return False
        waited = self.open[name].waiting.pop(by, None) is not None
        self._close_if_done(name)
        return waited

    def failed(self, name: bytes, at: int, views: PeerLinks, now: int) -> list[Descriptor]:
        """Record that a peer did not take an event; the peers to which to send it instead."""
        forwarding = self.open.get(name)
        if forwarding is None or at not in forwarding.waiting:
            return []
        del forwarding.waiting[at]
        forwarding.failed.add(at)
        return self._next(name, views, now)

    def overdue(self, before: int) -> list[tuple[bytes, int]]:
        """Pairs (event, peer): the event was sent to the peer before this time, and it has not answered."""
        return [
            (name, id)
            for name, each in self.open.items()
            for id, since in each.waiting.items()
            if since < before
        ]

    def _next(self, name: bytes, views: PeerLinks, now: int) -> list[Descriptor]:
        each = self.open[name]
        chosen = forward(
            views,
            each.event.point,
            each.came_from,
            self.settings,
            each.dice,
            lambda peer, _: peer.id not in each.failed,
        )
        more = [peer for peer in chosen.values() if peer.id not in each.sent]
        for peer in more:
            each.sent.add(peer.id)
            each.waiting[peer.id] = now
        self._close_if_done(name)
        return more

    def _close_if_done(self, name: bytes) -> None:
        if not self.open[name].waiting:
            self._close(name)

    def _close(self, name: bytes) -> None:
        self.held -= len(self.open.pop(name).event.data)
