"""Events at one live peer: delivered once, forwarded once, and forwarded again past those who fail.

Whom to forward to is decided by `sub2sub.events.forwarding.forward`, on the little world a peer knows: its
own row of links, everybody in it taken to be alive but those that failed to take this event. When one fails,
the rule is asked again, with the same draws, and whoever it now names beyond those already sent to is sent
to.

The simulator's acknowledgement is free and immediate; here it is the message `Taken`, waited for a few
cycles.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sub2sub.events.audience import half_open
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.forwarding import SEEN, TARGETS, World, forward, mark, new_desk
from sub2sub.events.hosts import hosts_of
from sub2sub.geometry.matching import match_boxes
from sub2sub.live.core.descriptors import Descriptor, Link
from sub2sub.live.core.known_peers import Crowd
from sub2sub.live.core.messages import Event
from sub2sub.overlay.links import Links
from sub2sub.overlay.views import empty_views

__all__ = ["Forwarding", "Spreading", "Views"]


@dataclass(frozen=True)
class Views:
    """What a peer knows when an event comes."""

    near: Sequence[Link]
    random: Sequence[Link]
    ring: Sequence[Descriptor]


@dataclass
class Forwarding:
    """An event a peer is about to forward, or waits for the fate of."""

    event: Event
    came_from: int
    key: np.uint64
    begun: int
    waiting: dict[int, Descriptor] = field(default_factory=dict)
    sent: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)


class Spreading:
    """The events of one peer.

    Parameters
    ----------
    own : Descriptor
    settings : DisseminationSettings
    memory : int
        Events remembered: as seen, and as waiting for acknowledgements.
    """

    def __init__(self, own: Descriptor, settings: DisseminationSettings, memory: int = 65536) -> None:
        self.own, self.settings, self.memory = own, settings, memory
        self.seen: OrderedDict[bytes, None] = OrderedDict()
        self.open: OrderedDict[bytes, Forwarding] = OrderedDict()

    def is_new(self, name: bytes) -> bool:
        """Whether an event is seen for the first time; it is remembered."""
        if name in self.seen:
            return False
        self.seen[name] = None
        if len(self.seen) > self.memory:
            self.seen.popitem(last=False)
        return True

    def begin(
        self, event: Event, came_from: int, views: Views, cycle: int, key: np.uint64
    ) -> list[Descriptor]:
        """Forward a new event; whom to."""
        forwarding = Forwarding(event, came_from, key, cycle)
        self.open[event.name] = forwarding
        if len(self.open) > self.memory:
            self.open.popitem(last=False)
        return self._next(forwarding, views)

    def taken(self, name: bytes, by: int) -> None:
        """Note that a peer has an event."""
        forwarding = self.open.get(name)
        if forwarding and forwarding.waiting.pop(by, None) and not forwarding.waiting:
            del self.open[name]

    def failed(self, name: bytes, at: int, views: Views) -> list[Descriptor]:
        """Note that a peer did not take an event; whom to send it to instead."""
        forwarding = self.open.get(name)
        if forwarding is None or forwarding.waiting.pop(at, None) is None:
            return []
        forwarding.failed.add(at)
        return self._next(forwarding, views)

    def overdue(self, before: int) -> list[tuple[bytes, int]]:
        """Who has not answered for an event that was forwarded before a cycle."""
        return [
            (name, id)
            for name, forwarding in self.open.items()
            if forwarding.begun < before
            for id in forwarding.waiting
        ]

    def _next(self, forwarding: Forwarding, views: Views) -> list[Descriptor]:
        chosen = targets(
            self.own, forwarding.event.point, forwarding.came_from, views, forwarding.failed,
            self.settings, forwarding.key,
        )  # fmt: skip
        more = [peer for peer in chosen if peer.id not in forwarding.sent]
        forwarding.sent.update(peer.id for peer in more)
        forwarding.waiting.update((peer.id, peer) for peer in more)
        if not forwarding.waiting:
            self.open.pop(forwarding.event.name, None)
        return more


def targets(
    own: Descriptor,
    point: tuple[float, ...],
    came_from: int,
    views: Views,
    failed: set[int],
    settings: DisseminationSettings,
    key: np.uint64,
) -> list[Descriptor]:
    """Whom a peer forwards an event to.

    Parameters
    ----------
    own : Descriptor
    point : tuple of float
    came_from : int
        Sequence ID of whoever sent it, or any other number.
    views : Views
    failed : set of int
        Sequence IDs of those that did not take it.
    settings : DisseminationSettings
    key : np.uint64
        Of the peer's draws for this event.

    Examples
    --------
    >>> own, a, b, c = (Descriptor.of(id, "h", id, [0.0], [1.0]) for id in (10, 20, 30, 40))
    >>> views = Views([], [], [a, b, c])
    >>> two = DisseminationSettings(shortcuts=0)
    >>> [peer.id for peer in targets(own, (0.5,), -1, views, set(), two, np.uint64(1))]
    [20, 40]
    >>> [peer.id for peer in targets(own, (0.5,), -1, views, {20}, two, np.uint64(1))]
    [20, 30, 40]
    """
    near, random, ring = views.near, views.random, views.ring
    crowd = Crowd([own, *(link.peer for link in (*near, *random)), *ring])
    n, me = len(crowd.peers), crowd.number[own.id]
    rows, sizes = [], []
    for view in (near, random):
        table = empty_views(n, max(len(view), 1))
        table[me, : len(view)] = crowd.row(view, 1)[: len(view)]
        size = np.zeros(n, np.int8)
        size[me] = len(view)
        rows.append(table)
        sizes.append(size)
    ring_size = np.zeros(n, np.int32)
    ring_size[me] = len(ring)
    order = np.array([crowd.number[peer.id] for peer in ring], np.int32)
    nowhere, nobody = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    links = Links(own.d, crowd.boxes, nowhere, rows[0], sizes[0], rows[1], sizes[1], nobody, ring_size, order)
    alive = np.ones(n, np.uint8)
    alive[[crowd.number[id] for id in failed if id in crowd.number]] = 0
    world = World(
        links, nobody, hosts_of(nowhere, alive), alive, np.zeros(n, np.uint8), 0.0, settings.shortcuts,
        settings.ring_shortcuts, settings.retries,
    )  # fmt: skip
    desk = new_desk(links, world.hosts, settings.shortcuts, settings.retries)
    desk.notes[me, SEEN] = 0
    wanting = match_boxes(*half_open(links), np.array([point], np.float64)).members
    mark(desk.wanted, wanting, 0, wanting.size)
    sender = crowd.number.get(came_from, -1)
    forward(world, 0, me, sender, key, desk, np.zeros((8, 1), np.int64))
    return [crowd.peers[k] for k in desk.targets[: desk.ends[TARGETS]]]
