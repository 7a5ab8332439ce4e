"""Candidates that have to answer a probe before a ring view accepts them (`RingSettings.verify`).

Not in Sub-2-Sub. A neighbour hides the peers behind it, so a dead one must not be accepted. Candidates are
considered nearest first. The first that is needed is probed (`next`), unless a peer heard from it in this
cycle. If it answers (`answered`), it is accepted, and others may no longer be needed; if not (`silent`),
links to it that are no younger are refused from now on. When no candidate is left, neighbours that others
have made superfluous are dropped.

In the simulator an answer comes at once (`run`). Between live peers it takes time, and other messages arrive
meanwhile; each message has its own verification. Whether a candidate is needed is therefore tested again when
it has answered, and a candidate that another verification has probed is left to that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sub2sub.peers.descriptors import Descriptor, Link

if TYPE_CHECKING:
    from sub2sub.peers.ring import RingLink, RingPeer


TOMBSTONES = 16  # slots for them
SPREAD = 0x9E3779B1  # multiplier of the hash function


def slot_of(x: int) -> int:
    """The slot of a peer's tombstone, by its ID; kernels compile this function, for peer numbers."""
    return (((x * SPREAD) & 0xFFFFFFFF) * TOMBSTONES) >> 32


class Tombstones:
    """Peers that did not answer, and when, so that stale links to them are refused.

    Not in Sub-2-Sub. A peer drops a neighbour or a candidate that does not answer, but the next partner may
    offer it again. So the peer remembers the cycle, and refuses links to the silent peer that are no younger.
    A link carries the time at which any peer last heard from its peer. If the silent peer was only
    unreachable, or has restarted, others hear from it again, and younger links to it are accepted.

    A peer has few tombstones, each in a slot determined by the ID of the silent peer; a newer one overwrites
    an older one. A tombstone that is overwritten too early costs a few messages.

    Attributes
    ----------
    slot_of : callable
        The slot of a peer's tombstone, by its ID.

    Examples
    --------
    >>> tombstones, peer = Tombstones(), Descriptor.of(7, [0.0], [1.0])
    >>> tombstones.set(7, now=5)
    >>> tombstones.outdate(Link(peer, 5)), tombstones.outdate(Link(peer, 6))
    (True, False)
    """

    def __init__(self) -> None:
        self.slot_of = slot_of
        self._slots: dict[int, tuple[int, int]] = {}

    def set(self, id: int, now: int) -> None:
        """Note that a peer did not answer."""
        self._slots[self.slot_of(id)] = (id, now)

    def clear(self, id: int) -> None:
        """Note that a peer answered after all."""
        if self._slots.get(self.slot_of(id), (-1, -1))[0] == id:
            del self._slots[self.slot_of(id)]

    def outdate(self, link: Link | RingLink) -> bool:
        """Whether a link is no younger than the tombstone of its peer."""
        id, when = self._slots.get(self.slot_of(link.peer.id), (-1, -1))
        return id == link.peer.id and link.stamp <= when


class Verification:
    """The candidates of one message.

    Parameters
    ----------
    queue : list of Link
        Candidates, nearest first.
    sender : int, optional
        ID of the sender of the message: if it is accepted, the two have met.

    Examples
    --------
    >>> from sub2sub.peers.ring import RingPeer
    >>> from sub2sub.peers.settings import RingSettings
    >>> own, near, far = (Descriptor.of(id, [0.0], [1.0]) for id in (10, 20, 30))
    >>> ring = RingPeer(own, RingSettings())
    >>> verification = Verification(ring, [Link(near, 3), Link(far, 3)])
    >>> verification.next(now=9).id
    20
    >>> verification.silent(now=9)
    >>> verification.next(now=9).id
    30
    >>> verification.answered(now=9)
    >>> verification.next(now=9), sorted(ring.view), [peer.id for peer in verification.news()]
    (None, [30], [30])
    """

    def __init__(self, ring: RingPeer, queue: list[Link | RingLink], sender: int | None = None) -> None:
        self.ring, self.queue, self.sender = ring, queue, sender
        self._asked: Descriptor | None = None
        self._there: int | None = None  # ID of the one that has just answered
        self._taken: list[Descriptor] = []
        self._reported = 0

    def next(self, now: int) -> Descriptor | None:
        """Accept needed candidates up to the first that has to be probed, and return that; None for none."""
        ring = self.ring
        while (link := self._first_needed()) is not None:
            if link.peer.id in ring.asking or ring.tombstones.outdate(link):  # in its turn: tombstones change
                continue
            if now - link.stamp >= ring.fresh and link.peer.id != self._there:
                self._asked = link.peer
                ring.asking.add(link.peer.id)
                return link.peer
            ring.accept(link, now, has_met=link.peer.id == self.sender)
            self._taken.append(link.peer)
        if self._taken:
            ring.drop_superfluous()
        return None

    def answered(self, now: int) -> None:
        """Note that the candidate that was probed has answered."""
        peer = self._no_longer_asked()
        self.ring.tombstones.clear(peer.id)
        self._there = peer.id
        self.queue.insert(0, Link(peer, now))

    def silent(self, now: int) -> None:
        """Note that the candidate that was probed did not answer."""
        self.ring.tombstones.set(self._no_longer_asked().id, now)

    def split(self) -> Verification:
        """A verification of the other candidates, which need not wait for the one that was probed."""
        rest, self.queue = self.queue, []
        return Verification(self.ring, rest, self.sender)

    def give_up(self) -> None:
        """End without a probe: later messages offer needed candidates again."""
        self._no_longer_asked()
        self.queue = []

    def news(self) -> list[Descriptor]:
        """Peers accepted since the last call."""
        news = self._taken[self._reported :]
        self._reported = len(self._taken)
        return news

    def run(self, is_there: Callable[[Descriptor], bool], now: int) -> list[Descriptor]:
        """Verify all candidates, where answers come at once; return those accepted."""
        while (peer := self.next(now)) is not None:
            if is_there(peer):
                self.answered(now)
            else:
                self.silent(now)
        return self.news()

    def _first_needed(self) -> Link | RingLink | None:
        """The first candidate that the view needs; removes it and those before it from the queue."""
        ring = self.ring
        for link in self.queue:
            if link.peer.id in ring.view:
                ring.renew(link)
        self.queue = [link for link in self.queue if link.peer.id not in ring.view]
        full = ring.settings.cap and len(ring.view) >= ring.settings.cap
        if full or not self.queue:
            return None
        neighbours = [each.peer for each in ring.view.values()]
        place = ring.need.first(neighbours, [link.peer for link in self.queue])
        if place < 0:
            return None
        link, self.queue = self.queue[place], self.queue[place + 1 :]
        return link

    def _no_longer_asked(self) -> Descriptor:
        peer, self._asked = self._asked, None
        assert peer is not None, "answered or silent without a probe"
        self.ring.asking.discard(peer.id)
        return peer


Verify = Callable[[Verification], list[Descriptor]]
"""Runs a verification as far as possible; returns the peers that were accepted."""
