"""One peer's recent events, and how it passes them to ring neighbours that missed them.

This is not in Sub-2-Sub. While peers join and leave, an event misses peers whose neighbours do not know them
yet. A peer therefore keeps its events for some cycles. Once per cycle it determines its two neighbours on the
ring of each of these events. If a neighbour is not known to have the event, the peer sends it a *digest*: the
names of such events. The neighbour asks for the events that it lacks, and receives them. A peer that received
an event in this way sends digests in the same cycle. If rings do not change, nothing is sent.

So an event that one peer of its ring has reaches all of them as soon as neighbours know one another.
Newcomers, too, receive the events of the cycles before they joined.

`sub2sub.compiled.events.recovery` makes the same decisions for a whole population. A cycle has rounds: in
each, all digests are sent, then the answers, then the requested events.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sub2sub.peers.descriptors import Coordinates, Descriptor
from sub2sub.peers.draws import stream_number
from sub2sub.peers.settings import RecoverySettings

STREAM = stream_number("recovery")
ROUNDS = 64  # in one cycle an event passes at most so many peers in a row that had missed it

NameT = TypeVar("NameT", bound=Hashable)


@dataclass
class _Kept:
    point: Coordinates
    since: int
    # The neighbours up and down the ring that are known to have it.
    known: list[int | None] = field(default_factory=lambda: [None, None])


class History(Generic[NameT]):
    """The recent events of one peer.

    Examples
    --------
    >>> a, b, c = (Descriptor.of(id, [0.0], [1.0]) for id in (20, 30, 40))
    >>> history = History[int](RecoverySettings())
    >>> history.add(7, (0.5,), now=1)
    >>> history.has_it(7, 20, ring=[a, b, c])
    >>> history.digests([a, b, c], [7]), history.lacks([7, 8])
    ({40: [7]}, [8])
    """

    def __init__(self, settings: RecoverySettings) -> None:
        self.settings = settings
        self.events: dict[NameT, _Kept] = {}
        self.silent: set[int] = set()  # peers that did not answer in this cycle

    def begin_cycle(self, now: int) -> None:
        """Forget events that are too old, and the peers that did not answer."""
        self.silent.clear()
        oldest = now - self.settings.history
        self.events = {name: each for name, each in self.events.items() if each.since >= oldest}

    def add(self, name: NameT, point: Coordinates, now: int) -> None:
        """Keep an event, published in cycle `now`."""
        self.events.setdefault(name, _Kept(point, now))

    def digests(self, ring: Sequence[Descriptor], names: Iterable[NameT]) -> dict[int, list[NameT]]:
        """The digests to send: peers, and the events named to each; `ring` is in the order of the ring."""
        digests: dict[int, list[NameT]] = {}
        for name in names:
            each = self.events[name]
            adjacent = self._adjacent(each.point, ring)
            if adjacent[0] == adjacent[1]:
                adjacent = (adjacent[0], None)
            for side, id in enumerate(adjacent):
                if id is not None and id != each.known[side]:
                    digests.setdefault(id, []).append(name)
        return digests

    def lacks(self, names: Iterable[NameT]) -> list[NameT]:
        """The events of a digest to ask for."""
        return [name for name in names if name not in self.events]

    def has_it(self, name: NameT, id: int, ring: Sequence[Descriptor]) -> None:
        """Record that a peer has an event, if that peer is adjacent on the event's ring."""
        each = self.events[name]
        for side, adjacent in enumerate(self._adjacent(each.point, ring)):
            if adjacent == id:
                each.known[side] = id

    def _adjacent(self, point: Coordinates, ring: Sequence[Descriptor]) -> tuple[int | None, int | None]:
        match = [peer.id for peer in ring if peer.id not in self.silent and peer.matches(point)]
        return (match[0], match[-1]) if match else (None, None)
