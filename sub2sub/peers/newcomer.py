"""A newcomer that asks for its ring neighbours at once: the readable form of `sub2sub.compiled.ring.joining`.

`next` returns the peer to ask, `answered` and `silent` take the result, until no peer is left to ask. An
answer contains all links of a peer: its proximity, random and ring links, in this order. The newcomer and
each peer that answers also take one another as proximity links (`VicinityPeer.meet`), which is up to the
driver. The simulator asks one peer after the other. Live peers ask several at once, once they know a
neighbour, as answers take time.
"""

from __future__ import annotations

from collections.abc import Iterable

from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.publisher import ALIKE
from sub2sub.peers.ring import RingPeer

LEAST = 24  # peers asked, at least, as far as it hears of so many
MOST = 40  # the same as long as it has no ring neighbour
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
        self.under_way = 0
        self._ways: list[float] = []  # the squared distances to those asked
        self._not_considered: list[Descriptor] = []
        self._hear_of([*contacts, *(each.peer for each in ring.in_order())])

    def next(self) -> Descriptor | None:
        """The peer to ask next; None if there is none at present."""
        peer = self._next()
        if peer is not None:
            self.asked.add(peer.id)
            self._ways.append(self.ring.own.squared_distance(peer))
        return peer

    def _next(self) -> Descriptor | None:
        if not self.asked:  # the first contact first
            return next(iter(self.known.values()), None)
        if len(self.asked) < ASKS:
            for each in self.ring.in_order():
                if each.peer.id not in self.asked:
                    return each.peer
        if len(self.asked) < (LEAST if self.ring.view else MOST):
            waiting = (peer for id, peer in self.known.items() if id not in self.asked and self._is_new(peer))
            return min(waiting, key=self.ring.own.squared_distance, default=None)
        return None

    def _is_new(self, peer: Descriptor) -> bool:
        """Whether a peer overlaps the newcomer, or is at a distance at which few were asked."""
        way = self.ring.own.squared_distance(peer)
        return way < 0 or self._ways.count(way) < ALIKE

    def answered(self, peer: Descriptor, links: Iterable[Descriptor]) -> None:
        """Take the answer of a peer: the peers that it knows."""
        self._hear_of(links)
        if peer.id in self.ring.view:
            self.ring.view[peer.id].met = self.now
        self._consider()

    def silent(self, peer: Descriptor) -> None:
        """Note that a peer did not answer."""
        self.gone.add(peer.id)
        self.ring.tombstones.set(peer.id, self.now)
        if peer.id in self.ring.view:
            self.ring.remove(peer.id, self.now)
            self._not_considered = list(self.known.values())  # peers that it hid may be needed now
        self._consider()

    def _hear_of(self, peers: Iterable[Descriptor]) -> None:
        for peer in peers:
            if peer.id not in self.known and peer.id != self.ring.own.id and len(self.known) < KNOWN:
                self.known[peer.id] = peer
                self._not_considered.append(peer)

    def _consider(self) -> None:
        peers, self._not_considered = self._not_considered, []
        self.ring.consider([Link(peer, self.now) for peer in peers if peer.id not in self.gone], self.now)
