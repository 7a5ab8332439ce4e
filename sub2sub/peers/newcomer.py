"""A newcomer that asks for its ring neighbours at once: the readable form of `sub2sub.compiled.ring.joining`.

`next` returns the peer to ask, `answered` and `silent` take the result, until no peer is left to ask. An
answer contains all links of a peer: its proximity, random and ring links, in this order. The simulator asks
one peer after the other. Live peers ask several at once after the walk, as answers take time.
"""

from __future__ import annotations

from collections.abc import Iterable

from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.ring import RingPeer

WALK = 20  # peers asked on the walk to one that overlaps, at most
ASKS = 400  # peers asked in all, at most
KNOWN = 4096  # peers that a newcomer remembers


class Newcomer:
    """The questions of one newcomer.

    Parameters
    ----------
    ring : RingPeer
        Its ring links; others may have accepted it already.
    contacts : sequence of Descriptor
        The first is asked first.
    now : int
        The time, which the driver advances where answers take time.

    Attributes
    ----------
    walking : bool
        Whether it is still searching for a peer that overlaps.
    under_way : int
        Questions that wait for an answer, counted by a driver that asks several at once.

    Examples
    --------
    >>> from sub2sub.peers.settings import RingSettings
    >>> own, contact, other = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))
    >>> newcomer = Newcomer(RingPeer(own, RingSettings()), [contact], now=5)
    >>> newcomer.next().id
    20
    >>> newcomer.answered(contact, [other])
    >>> newcomer.next().id, sorted(newcomer.ring.view)
    (30, [20, 30])
    """

    def __init__(self, ring: RingPeer, contacts: Iterable[Descriptor], now: int) -> None:
        self.ring, self.now = ring, now
        self.known: dict[int, Descriptor] = {}
        self.asked: set[int] = set()
        self.gone: set[int] = set()
        self.walking, self.under_way = True, 0
        self._hear_of([*contacts, *(each.peer for each in ring.in_order())])

    def next(self) -> Descriptor | None:
        """The peer to ask next; None if there is none at present."""
        peer = self._next()
        if peer is not None:
            self.asked.add(peer.id)
        return peer

    def _next(self) -> Descriptor | None:
        if self.walking and len(self.asked) < WALK:
            waiting = [peer for id, peer in self.known.items() if id not in self.asked]
            if waiting:
                # The first contact first.
                return min(waiting, key=self.ring.own.squared_distance) if self.asked else waiting[0]
        if self.walking:
            self._end_walk()
        if len(self.asked) < ASKS:
            for each in self.ring.in_order():
                if each.peer.id not in self.asked:
                    return each.peer
        return None

    def answered(self, peer: Descriptor, links: Iterable[Descriptor]) -> None:
        """Take the answer of a peer: the peers that it knows."""
        new = self._hear_of(links)
        if self.walking:
            if self.ring.own.overlaps(peer):
                self._end_walk()
            return
        if peer.id in self.ring.view:
            self.ring.view[peer.id].met = self.now
        self._consider(new)

    def silent(self, peer: Descriptor) -> None:
        """Note that a peer did not answer."""
        self.gone.add(peer.id)
        self.ring.tombstones.set(peer.id, self.now)
        if not self.walking and peer.id in self.ring.view:
            self.ring.remove(peer.id, self.now)
            self._consider(self.known.values())

    def _end_walk(self) -> None:
        self.walking = False
        self._consider(self.known.values())

    def _hear_of(self, peers: Iterable[Descriptor]) -> list[Descriptor]:
        new = []
        for peer in peers:
            if peer.id not in self.known and peer.id != self.ring.own.id and len(self.known) < KNOWN:
                self.known[peer.id] = peer
                new.append(peer)
        return new

    def _consider(self, peers: Iterable[Descriptor]) -> None:
        self.ring.consider([Link(peer, self.now) for peer in peers if peer.id not in self.gone], self.now)
