"""One peer of PolderCast's RINGS module: its neighbours on the ring of its topic.

Setty, van Steen, Vitenberg, Voulgaris: *PolderCast: fast, robust, and scalable architecture for P2P
topic-based pub/sub*, Middleware 2012, Section 4. Subscribers of a topic form a ring by their IDs. Once a
cycle a peer chooses the ring neighbour that it has not heard of for longest, sends it the links of its topic
that are nearest to it on the ring, and gets the same back; CYCLON and VICINITY below supply candidates.

Readings:

- A peer has one topic here, and therefore one ring (`sims.anchors.groups`).
- The age of a link counts from the last news of its peer. Links that are too old are dropped, and a peer that
  did not answer is not accepted for as many cycles. The paper does not say how dead peers are removed.
- IDs are the numbers of peers, which are in the order of their sequence IDs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from sims.anchors.objects import ObjectPeer
from sims.anchors.poldercast.settings import RingsSettings
from sims.anchors.transport import Sends
from sub2sub.peers.descriptors import DESCRIPTOR, NAME
from sub2sub.peers.draws import Dice


class Exchange(NamedTuple):
    """Links as (peer, cycle of the news), and whether they are an answer."""

    links: tuple[tuple[int, int], ...]
    answer: bool

    @property
    def size(self) -> int:
        """Bytes: links, and the topic of each."""
        return (DESCRIPTOR + NAME) * len(self.links)


class RingsPeer(ObjectPeer):
    """The ring links of one peer.

    Attributes
    ----------
    ring : dict
        Neighbours, and the cycle of the last news of each.
    silent : dict
        Those that did not answer, and when.

    Examples
    --------
    >>> peer = RingsPeer(10, 100, RingsSettings(neighbours=1))
    >>> peer.feed([(12, 0), (90, 0), (30, 0), (99, 0)], 1)
    >>> sorted(peer.ring), peer.adjacent()
    ([12, 99], [12, 99])
    """

    kept: ClassVar[tuple[str, ...]] = ("ring", "silent", "now")

    def __init__(self, own: int, around: int, settings: RingsSettings) -> None:
        self.own, self.around, self.settings, self.now = own, around, settings, 0
        self.ring: dict[int, int] = {}
        self.silent: dict[int, int] = {}

    def feed(self, links: Iterable[tuple[int, int]], cycle: int) -> None:
        """Accept links of its topic."""
        self.now, oldest = cycle, cycle - self.settings.max_age
        if self.silent:
            self.silent = {peer: when for peer, when in self.silent.items() if when >= oldest}
        for peer, news in links:
            if peer != self.own and news >= oldest and self.silent.get(peer, -1) < news:
                self.ring[peer] = max(news, self.ring.get(peer, 0))
        if len(self.ring) > 2 * self.settings.neighbours:
            kept = self._nearest(self.own, self.ring, self.settings.neighbours)
            self.ring = {peer: self.ring[peer] for peer in kept}

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """Exchange with the neighbour whose news are oldest."""
        oldest = cycle - self.settings.max_age
        self.ring = {peer: news for peer, news in self.ring.items() if news >= oldest}
        if not self.ring:
            return ()
        partner = min(self.ring, key=lambda peer: (self.ring[peer], peer))
        return [(partner, self._offer(partner, answer=False))]

    def receive(self, sender: int, message: Exchange, dice: Dice) -> Sends:
        """Answer, and accept what came."""
        answer = () if message.answer else [(sender, self._offer(sender, answer=True))]
        self.feed(message.links, self.now)
        return answer

    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """Drop a dead neighbour."""
        self.ring.pop(target, None)
        self.silent[target] = self.now
        return ()

    def adjacent(self) -> list[int]:
        """Successor and predecessor."""
        return list(dict.fromkeys(self._nearest(self.own, self.ring, 1)))

    def links(self) -> list[int]:
        """The ring links."""
        return list(self.ring)

    def _offer(self, target: int, answer: bool) -> Exchange:
        others = [peer for peer in self.ring if peer != target]
        chosen = self._nearest(target, others, (self.settings.shuffle - 1) // 2)
        return Exchange((*((peer, self.ring[peer]) for peer in chosen), (self.own, self.now)), answer)

    def _nearest(self, centre: int, among: Iterable[int], count: int) -> list[int]:
        """The `count` nearest in either direction, the nearest first."""
        order = sorted(among, key=lambda peer: (peer - centre) % self.around)
        return list(dict.fromkeys([*order[:count], *order[::-1][:count]]))
