"""One peer and an event: the peers that it forwards to, and the answers that it still waits for.

Sub-2-Sub, Section 4.2; `sub2sub.events.forwarding` says where it is read differently and what is added. Live
peers run this, and the kernel must make the same decisions, draw for draw.

`forward` is the rule; its driver says of each message whether it was taken. In the simulator an answer comes
within the hop, and the driver delivers the message to find out. Between live peers it is waited for a few
cycles, and the driver (`Forwarder`) goes by those that have failed so far: when one fails, the rule is asked
again with the same draws, and the event is sent to the peers that it names in addition. Live connections
repeat lost messages themselves.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.forwarding import SHORTCUT
from sub2sub.kernels.dice import Dice
from sub2sub.overlay.descriptors import Coordinates, Descriptor

EventT = TypeVar("EventT", bound="Event")


class Views(NamedTuple):
    """What a peer knows when it forwards; ring neighbours in the order of the ring, starting after it."""

    near: Sequence[Descriptor]
    random: Sequence[Descriptor]
    ring: Sequence[Descriptor]


def forward(
    views: Views,
    point: Coordinates,
    came_from: int | None,
    settings: DisseminationSettings,
    dice: Dice,
    send: Callable[[Descriptor, int], bool | None],
) -> dict[int, Descriptor]:
    """Forward an event to the adjacent ring neighbours and along random shortcuts; returns to whom.

    Parameters
    ----------
    views : Views
    point : tuple of float
        The event.
    came_from : int or None
        ID of the peer it came from.
    settings : DisseminationSettings
    dice : Dice
        The peer's draws for this event.
    send : callable
        Sends the event to a peer, after so many messages on the same side of the ring that were not taken;
        returns whether that says it has it now, None if it says nothing.

    Examples
    --------
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (20, 30, 40))
    >>> two = DisseminationSettings(shortcuts=0)
    >>> sorted(forward(Views([], [], [a, b, c]), (0.5,), None, two, Dice(1), lambda peer, waited: True))
    [20, 40]
    >>> sorted(forward(Views([], [], [a, b, c]), (0.5,), None, two, Dice(1), lambda peer, _: peer.id != 20))
    [20, 30, 40]
    >>> answers = iter([None, True, True])  # the first message is lost, and sent again
    >>> sorted(forward(Views([], [], [a, b, c]), (0.5,), None, two, Dice(1), lambda peer, _: next(answers)))
    [20, 40]
    """
    sent: dict[int, Descriptor] = {}
    took: set[int] = set()

    def takes(peer: Descriptor, waited: int) -> bool:
        """Send it to an adjacent neighbour, again while that is silent."""
        sent[peer.id] = peer
        answer = None
        for again in range(settings.tries):
            answer = send(peer, waited + again)
            if answer is not None:
                break
        if answer:
            took.add(peer.id)
        return bool(answer)

    def follow_ring(neighbours: Sequence[Descriptor]) -> None:
        """To the nearest that matches; to the next ones while nobody takes it."""
        failed = 0
        for peer in neighbours:
            if not peer.matches(point):
                continue
            if peer.id == came_from or peer.id in took or failed > settings.retries:
                return
            if peer.id not in sent:
                if takes(peer, failed * settings.tries):
                    return
                failed += 1

    follow_ring(views.ring)
    follow_ring(views.ring[::-1])
    links = [*views.near, *views.random, *(views.ring if settings.ring_shortcuts else ())]
    left = settings.shortcuts
    for k in range(len(links)):
        if left == 0:
            break
        other = k + dice.below(SHORTCUT + k, len(links) - k)
        links[k], links[other] = links[other], links[k]
        peer = links[k]
        if peer.id != came_from and peer.id not in sent and peer.matches(point):
            sent[peer.id] = peer
            send(peer, 0)
            left -= 1
    return sent


class Event(Protocol):
    """What has to be known of an event."""

    @property
    def name(self) -> bytes:
        """The same wherever it comes by."""

    @property
    def point(self) -> Coordinates:
        """Where in the attribute space it is."""

    @property
    def data(self) -> bytes:
        """What it says."""
        ...


@dataclass
class Forwarding(Generic[EventT]):
    """An event on its way from a peer: to whom it was sent, and who has not answered yet."""

    event: EventT
    came_from: int | None
    dice: Dice
    waiting: dict[int, int] = field(default_factory=dict)  # since when, by ID
    sent: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)


class Forwarder(Generic[EventT]):
    """The events of one peer: each is taken once, forwarded once, and forwarded past those that fail.

    Parameters
    ----------
    settings : DisseminationSettings
    memory : int
        Events remembered: as seen, and as waiting for acknowledgements.
    space : int
        Bytes of events that wait for acknowledgements, unless it is one event.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (20, 30, 40))
    >>> views, forwarder = Views([], [], [a, b, c]), Forwarder(DisseminationSettings(shortcuts=0))
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
        self, event: EventT, came_from: int | None, views: Views, now: int, dice: Dice,
        doubted: Collection[int] = (),
    ) -> list[Descriptor]:  # fmt: skip
        """Forward a new event; to whom. Past ring neighbours that are doubted it also goes to the next."""
        self.open[event.name] = Forwarding(event, came_from, dice)
        self.held += len(event.data)
        while len(self.open) > self.memory or (self.held > self.space and len(self.open) > 1):
            self._close(next(iter(self.open)))
        return self._next(event.name, views, now, doubted)

    def taken(self, name: bytes, by: int) -> bool:
        """Note that a peer has an event; whether it was sent to that peer."""
        if name not in self.open:
            return False
        waited = self.open[name].waiting.pop(by, None) is not None
        self._close_if_done(name)
        return waited

    def failed(
        self, name: bytes, at: int, views: Views, now: int, doubted: Collection[int] = ()
    ) -> list[Descriptor]:
        """Note that a peer did not take an event; to whom to send it instead."""
        forwarding = self.open.get(name)
        if forwarding is None or at not in forwarding.waiting:
            return []
        del forwarding.waiting[at]
        forwarding.failed.add(at)
        return self._next(name, views, now, doubted)

    def overdue(self, before: int) -> list[tuple[bytes, int]]:
        """Events, each with a peer it was sent to before a moment and that has not answered."""
        return [
            (name, id)
            for name, each in self.open.items()
            for id, since in each.waiting.items()
            if since < before
        ]

    def _next(self, name: bytes, views: Views, now: int, doubted: Collection[int]) -> list[Descriptor]:
        each = self.open[name]
        chosen = forward(
            views,
            each.event.point,
            each.came_from,
            self.settings,
            each.dice,
            lambda peer, _: peer.id not in each.failed and peer.id not in doubted,
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
