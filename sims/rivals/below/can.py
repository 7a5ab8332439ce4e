"""One peer of Meghdoot: its zone, its neighbours' zones, and how zones change hands on joins and crashes.

Gupta, Sahin, Agrawal, El Abbadi: *Meghdoot: content-based publish/subscribe over P2P networks*, Middleware
2004, over CAN (Ratnasamy, Francis, Handley, Karp, Shenker, SIGCOMM 2001, Sections 2.2 and 2.3). A
subscription of k ranges is the point (low, high, low, high, ...) of a space of 2k dimensions, which the zones
of the peers tile. A newcomer is routed to the zone of its point, which is halved. Neighbours send each other
updates. The neighbour with the smallest zone takes over the zone of a dead peer.

Readings:

- Peers are the subscribers, and a newcomer's point is that of its own subscription. A zone is cut between the
  points of both peers, so each zone contains the subscription of its own peer only. That is the limit of
  Meghdoot's load balancing, in which newcomers halve the zones with most subscriptions.
- The neighbours of a dead peer wait before they take over, longer the larger their zones are, as in CAN; in
  whole cycles, by rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from sims.rivals.base.objects import ObjectPeer, Sends
from sims.rivals.below.zones import Zone, cut, gap, holds, touch, volume
from sub2sub.errors import require
from sub2sub.peers.descriptors import LINK, NAME, VALUE
from sub2sub.peers.draws import Dice

Point = tuple[float, ...]
Around = tuple[tuple[int, float], ...]  # neighbours of a peer, and how large their zones are
LONGEST = 64  # hops of a newcomer's way before it is given up, times dimensions


@dataclass(frozen=True)
class MeghdootSettings:
    """Settings of Meghdoot.

    Attributes
    ----------
    refresh : int
        Cycles between two updates that a peer sends to each neighbour. Fewer updates find the dead later.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    refresh: int = 4
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "meghdoot", refresh=1, tries=1)


class Come(NamedTuple):
    """A newcomer that is routed to its point."""

    newcomer: int
    point: Point
    hops: int

    @property
    def size(self) -> int:
        """Bytes: an address and a point."""
        return LINK + VALUE * len(self.point)


class Welcome(NamedTuple):
    """A zone for a newcomer, and the peers whose zones may touch it."""

    zone: Zone
    around: tuple[tuple[int, tuple[Zone, ...]], ...]

    @property
    def size(self) -> int:
        """Bytes: zones and addresses."""
        corners = 2 * VALUE * len(self.zone[0])
        return corners + sum(LINK + corners * len(zones) for _, zones in self.around)


class Update(NamedTuple):
    """The sender's zones, and its neighbours."""

    zones: tuple[Zone, ...]
    around: Around

    @property
    def size(self) -> int:
        """Bytes: zones, and neighbours with the sizes of their zones."""
        return sum(2 * VALUE * len(zone[0]) for zone in self.zones) + (LINK + VALUE) * len(self.around)


class Takeover(NamedTuple):
    """The sender has taken over the zones of a dead peer."""

    gone: int
    zones: tuple[Zone, ...]

    @property
    def size(self) -> int:
        """Bytes: a name and zones."""
        return NAME + sum(2 * VALUE * len(zone[0]) for zone in self.zones)


class Meet(NamedTuple):
    """A peer whose zones touch those of the receiver."""

    peer: int
    zones: tuple[Zone, ...]

    @property
    def size(self) -> int:
        """Bytes: an address and zones."""
        return LINK + sum(2 * VALUE * len(zone[0]) for zone in self.zones)


class MeghdootPeer(ObjectPeer):
    """A peer, its zones and its neighbours.

    Attributes
    ----------
    point : tuple of float
        Its subscription.
    zones : tuple of Zone
        The first one holds its point; others were taken over.
    near : dict
        The zones of each neighbour.
    around : dict
        The neighbours of each neighbour.
    lost : dict
        Dead neighbours whose zones no peer has taken over: when that was noticed, and their zones.

    Examples
    --------
    >>> a, b = (MeghdootPeer(k, (x, 0.9), MeghdootSettings()) for k, x in ((0, 0.1), (1, 0.5)))
    >>> a.take_whole_space()
    >>> (_, welcome), = a.receive(1, Come(1, b.point, 0), Dice(1))
    >>> list(b.receive(0, welcome, Dice(1)))[0][0], a.zones, b.zones
    (0, (((0.0, 0.0), (0.3, 1.0)),), (((0.3, 0.0), (1.0, 1.0)),))
    """

    kept: ClassVar[tuple[str, ...]] = ()

    def __init__(self, own: int, point: Point, settings: MeghdootSettings) -> None:
        self.own, self.point, self.settings = own, point, settings
        self.zones: tuple[Zone, ...] = ()
        self.near: dict[int, tuple[Zone, ...]] = {}
        self.around: dict[int, Around] = {}
        self.lost: dict[int, tuple[int, tuple[Zone, ...]]] = {}
        self.now = 0

    def take_whole_space(self) -> None:
        """Start as the first peer, whose zone is the whole space."""
        self.zones = (((0.0,) * len(self.point), (1.0,) * len(self.point)),)

    def seeks(self, cycle: int) -> bool:
        """Without a zone, from time to time."""
        return not self.zones and (cycle + self.own) % 4 == 0

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Join, update neighbours, take over lost zones."""
        self.now = cycle
        if not self.zones:
            return [(self.contact, Come(self.own, self.point, 0))] if self.contact >= 0 else ()
        sends = self._take_over()
        if (cycle + self.own) % self.settings.refresh == 0:
            sends += self._tell(self.near)
        return sends

    def receive(self, sender: int, message: Any, dice: Dice) -> Sends:
        """Messages of all kinds."""
        if isinstance(message, Update):
            return self._note(sender, message)
        if isinstance(message, Meet):
            if message.peer in self.near or not self._beside(message.zones):
                return ()
            self.near[message.peer] = message.zones
            return self._tell([message.peer])
        if isinstance(message, Come):
            return self._pass_on(message)
        if isinstance(message, Welcome):
            if self.zones:
                return ()
            self.zones = (message.zone,)
            self.near = {peer: zones for peer, zones in message.around if self._beside(zones)}
            return self._tell([peer for peer, _ in message.around])
        self.lost.pop(message.gone, None)  # Takeover
        self.near.pop(message.gone, None)
        twice = [zone for zone in self.zones[1:] if zone in message.zones]
        before = list(self.near)
        if twice and sender < self.own:  # two took it over: the one with the lower number keeps it
            self.zones = tuple(zone for zone in self.zones if zone not in twice)
            self.near = {peer: zones for peer, zones in self.near.items() if self._beside(zones)}
            return self._tell(dict.fromkeys([sender, *before]))
        return self._tell([sender])

    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """Note a dead neighbour; route a newcomer another way."""
        zones = self.near.pop(target, None)
        if zones and target not in self.lost:
            self.lost[target] = self.now, zones
        if isinstance(message, Come) and self.zones:
            return self._pass_on(message)
        return ()

    def links(self) -> list[int]:
        """The neighbours."""
        return list(self.near)

    def next_hop(self, point: Point, silent: frozenset[int] = frozenset()) -> int:
        """The neighbour nearest to a point; the peer itself where it has the point or none is nearer."""
        own = min(gap(zone, point) for zone in self.zones)
        if any(holds(zone, point) for zone in self.zones):
            return self.own
        best, least = self.own, own
        for peer, zones in self.near.items():
            if peer not in silent:
                far = min(gap(zone, point) for zone in zones)
                if far < least or (far == least == 0.0 and any(holds(zone, point) for zone in zones)):
                    best, least = peer, far
        return best

    def _pass_on(self, message: Come) -> Sends:
        """Give a newcomer a zone, or route it onward."""
        if not self.zones or message.hops > LONGEST * len(self.point):
            return ()
        following = self.next_hop(message.point)
        if following != self.own:
            return [(following, message._replace(hops=message.hops + 1))]
        place = next((k for k, zone in enumerate(self.zones) if holds(zone, message.point)), -1)
        return [] if place < 0 or message.newcomer == self.own else self._let_in(message, place)

    def _let_in(self, message: Come, place: int) -> Sends:
        """Give a newcomer half of the zone, or a whole zone that was taken over."""
        before = self.near
        if place == 0:
            if message.point == self.point:
                return ()
            mine, given = cut(self.zones[0], self.point, message.point)
            self.zones = (mine, *self.zones[1:])
        else:
            given = self.zones[place]
            self.zones = (*self.zones[:place], *self.zones[place + 1 :])
        self.lost.pop(message.newcomer, None)
        told = ((self.own, self.zones), *((p, z) for p, z in before.items() if p != message.newcomer))
        self.near = {peer: zones for peer, zones in before.items() if self._beside(zones)}
        self.near[message.newcomer] = (given,)
        return [(message.newcomer, Welcome(given, told)), *self._tell(before)]

    def _note(self, sender: int, message: Update) -> list[tuple[int, Any]]:
        """Note a neighbour's zones, or drop a neighbour whose zones no longer touch.

        A peer that has taken over zones may not know all its new neighbours; it is sent those known here.
        """
        if not self.lost and self.near.get(sender) == message.zones:
            self.around[sender] = message.around
            return []
        news = message.zones if self.near.get(sender) != message.zones and len(message.zones) > 1 else ()
        self.lost.pop(sender, None)
        for gone, (_, zones) in list(self.lost.items()):
            if all(zone in message.zones for zone in zones):
                del self.lost[gone]
        if self.zones and self._beside(message.zones):
            self.near[sender], self.around[sender] = message.zones, message.around
        else:
            self.near.pop(sender, None)
            self.around.pop(sender, None)
        known = {peer for peer, _ in message.around} | {sender} if news else set[int]()
        meet: list[tuple[int, Any]] = []
        for peer, zones in self.near.items() if news else ():
            if peer not in known and any(touch(zone, own) for zone in zones for own in news):
                meet += [(sender, Meet(peer, zones)), (peer, Meet(sender, message.zones))]
        return meet

    def _take_over(self) -> list[tuple[int, Any]]:
        """Take over the zones of dead neighbours, if it is this peer's turn."""
        sends: list[tuple[int, Any]] = []
        for gone, (when, zones) in list(self.lost.items()):
            others = [(size, peer) for peer, size in self.around.get(gone, ()) if peer not in self.lost]
            rank = sum((size, peer) < (self._size(), self.own) for size, peer in others)
            if self.now - when < rank:
                continue
            del self.lost[gone]
            self.zones = (*self.zones, *(zone for zone in zones if zone not in self.zones))
            told = {peer for _, peer in others if peer != self.own} | set(self.near)
            sends += [(peer, Takeover(gone, zones)) for peer in sorted(told)]
            sends += self._tell(sorted(told))
        return sends

    def _tell(self, peers: Any) -> list[tuple[int, Any]]:
        update = Update(self.zones, tuple((peer, sum(map(volume, z))) for peer, z in self.near.items()))
        return [(peer, update) for peer in peers]

    def _beside(self, zones: tuple[Zone, ...]) -> bool:
        return any(touch(zone, own) for zone in zones for own in self.zones)

    def _size(self) -> float:
        return sum(map(volume, self.zones))

    def state(self) -> list[Any]:
        """For a checkpoint."""
        around = [[peer, list(map(list, row))] for peer, row in self.around.items()]
        lost = [[peer, when, zones] for peer, (when, zones) in self.lost.items()]
        return [self.zones, list(self.near.items()), around, lost, self.contact, self.now]

    def restore(self, state: list[Any]) -> None:
        """From a checkpoint."""
        zones, near, around, lost, self.contact, self.now = state
        self.zones = _zones(zones)
        self.near = {peer: _zones(held) for peer, held in near}
        self.around = {peer: tuple((other, size) for other, size in row) for peer, row in around}
        self.lost = {peer: (when, _zones(held)) for peer, when, held in lost}


def _zones(held: Any) -> tuple[Zone, ...]:
    return tuple((tuple(low), tuple(high)) for low, high in held)
