"""PolderCast: a ring for each topic over random and interest links, and random shortcuts across it.

Setty, van Steen, Vitenberg, Voulgaris: *PolderCast: fast, robust, and scalable architecture for P2P
topic-based pub/sub*, Middleware 2012, Section 4. Subscribers of a topic form a ring by their IDs. Once a
cycle a peer chooses the ring neighbour that it has not heard of for longest, sends it the links of its topic
that are nearest to it on the ring, and gets the same back; CYCLON and VICINITY below supply candidates.

Readings:

- A peer has one topic here, and therefore one ring (`sims.rivals.base.groups`).
- The age of a link counts from the last news of its peer. Links that are too old are dropped, and a peer that
  did not answer is not accepted for as many cycles. The paper does not say how dead peers are removed.
- A peer that receives an event for the first time sends it to its ring neighbours, but for the one it came
  from, and to random peers of its topic, F in all (Section 4.4): to the other neighbour and F - 1 random ones
  if it came from a ring neighbour, to both and F - 2 if it came from elsewhere.
- A peer without ring neighbours asks the rendezvous for one of its topic, as peers of the other systems do.
- IDs are the numbers of peers, which are in the order of their sequence IDs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.rivals.base.entrants import Knob, Look
from sims.rivals.base.grouped import Grouped
from sims.rivals.base.groups import Groups
from sims.rivals.base.objects import ObjectLayer, ObjectPeer, Sends
from sims.rivals.base.push_tables import PushRules, PushTables
from sims.rivals.base.system import Integers
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.cyclon.rendezvous import Rendezvous
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.compiled.vicinity.proximity import packed_boxes
from sub2sub.errors import require
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import DESCRIPTOR, LINK, NAME
from sub2sub.peers.draws import Dice
from sub2sub.peers.settings import CyclonSettings, VicinitySettings

PATIENCE = 10


@dataclass(frozen=True)
class RingsSettings:
    """Settings of the RINGS module.

    Attributes
    ----------
    neighbours : int
        Links kept in either direction of the ring; the first of them carry events, the others replace them.
    shuffle : int
        Links sent in one exchange, the sender's own included.
    max_age : int
        Oldest link to keep or accept, in cycles, and how long one that did not answer is not accepted.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    neighbours: int = 2
    shuffle: int = 8
    max_age: int = 15
    tries: int = 3

    def __post_init__(self) -> None:
        require(self, "rings", neighbours=1, shuffle=1, max_age=1, tries=1)


@dataclass(frozen=True)
class PolderCastSettings:
    """Settings of all three modules.

    Attributes
    ----------
    cyclon, vicinity, rings
        Random links, links to peers of the same topic, and ring links.
    """

    cyclon: CyclonSettings = field(default_factory=lambda: CyclonSettings(retry=10, tries=3))
    vicinity: VicinitySettings = field(default_factory=lambda: VicinitySettings(max_age=20))
    rings: RingsSettings = field(default_factory=RingsSettings)


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

    def introduce(self, contact: int) -> None:
        """Take a contact of the own topic into the ring."""
        if contact != self.own:
            self.ring[contact] = self.now

    def seeks(self, cycle: int) -> bool:
        """Whether to ask for a contact: at the start and from time to time, without any neighbour."""
        return not self.ring and (self.now == 0 or (cycle + self.own) % 4 == 0)

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


class Rings(ObjectLayer[RingsPeer]):
    """A ring for each group; the engine steps CYCLON and VICINITY, which supply candidates, before it."""

    within = True

    def __init__(
        self, groups: Groups, cyclon: Cyclon, vicinity: Vicinity, settings: RingsSettings, seed: int
    ) -> None:
        self.groups, self.cyclon, self.vicinity = groups, cyclon, vicinity
        n = len(groups.of)
        super().__init__("rings", n, lambda peer: RingsPeer(peer, n, settings), settings.tries, seed)

    def turns(self, cycle: int, dice: Dice) -> None:
        """Accept candidates, then exchange."""
        for peer, links in enumerate(self.mates()):
            if self.transport.alive[peer]:
                self.peers[peer].feed(links, cycle)
        super().turns(cycle, dice)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers afresh: their contacts are CYCLON's, who may have other topics."""
        super().join(peers, np.full(len(peers), -1), cycle)

    def mates(self) -> Iterator[list[tuple[int, int]]]:
        """Links of each peer to others of its group in the views below, as (peer, stamp)."""
        views: list[NDArray[np.int64]] = [self.vicinity.view, self.cyclon.view]
        words = np.concatenate(views, axis=1)
        peer = np.where(words == FREE, 0, words & 0xFFFFFFFF)
        same = (words != FREE) & (self.groups.of[peer] == self.groups.of[:, None])
        start = np.append(0, np.cumsum(same.sum(axis=1))).tolist()
        held = words[same].tolist()
        for first, last in pairwise(start):
            yield [(word & 0xFFFFFFFF, word >> 32) for word in held[first:last]]


@dataclass(frozen=True)
class RingFanout:
    """Settings of PolderCast's dissemination.

    Attributes
    ----------
    fanout : int
        F: peers an event is sent to, two ring neighbours among them.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    fanout: int = 4
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, fanout=2, retries=0)


class PolderCast(Grouped):
    """A ring in each group; random links are not restricted to groups."""

    name = "poldercast"
    layers = PolderCastSettings
    dissemination = RingFanout
    knobs = (
        *(Knob(fanout=f) for f in (2, 3, 4, 5, 6, 8)),
        *(Knob(fanout=f, retries=2) for f in (2, 3, 4)),
    )
    probe = Knob(fanout=4)
    layer_names = ("cyclon", "vicinity", "rings")
    within = False
    look = Look("pink", "o", "-")
    worlds = ("topics",)

    def protocol(self, population: Population, layers: PolderCastSettings | None) -> Sequence[Layer]:
        """CYCLON, VICINITY and RINGS."""
        given = layers or PolderCastSettings()
        self.cyclon = Cyclon(len(population), given.cyclon, self.seed)
        # Equal topics overlap, all others are apart.
        topic = self.groups.of[:, None].astype(np.float64)
        self.boxes = packed_boxes(topic, topic + np.float64(0.5))
        self.vicinity = Vicinity(self.boxes, 1, self.cyclon, given.vicinity, self.seed)
        self.rings = Rings(self.groups, self.cyclon, self.vicinity, given.rings, self.seed)
        return [Rendezvous(self.cyclon, PATIENCE, self.seed), self.cyclon, self.vicinity, self.rings]

    def forget(self) -> None:
        """Take note of newcomers' topics."""
        super().forget()
        self.boxes[:, 0, 0], self.boxes[:, 1, 0] = self.groups.of, self.groups.of + 0.5

    def tables(self) -> PushTables:
        """Ring neighbours, and others of the topic."""
        peers = self.rings.peers
        eager = [peer.adjacent() for peer in peers]
        near = [
            list(dict.fromkeys(other for other, _ in mates if other not in own))
            for mates, own in zip(self.rings.mates(), eager, strict=True)
        ]
        return PushTables.of(eager, near)

    def rules(self, settings: RingFanout) -> PushRules:
        """Ring neighbours first: F - 1 random ones for a copy from one of them, F - 2 for any other."""
        return PushRules(fanout=settings.fanout, retries=settings.retries)

    def entry_bytes(self, kind: str) -> int:
        """Links within a topic include an ID and the topic."""
        return LINK if kind in ("random", "entries") else DESCRIPTOR + NAME

    def own_links(self) -> dict[str, Sequence[Sequence[int]]]:
        """Ring links."""
        return {"ring": [peer.links() for peer in self.rings.peers]}

    def links(self) -> dict[str, Integers]:
        """Links of all modules."""
        views = {"random": self.cyclon.size, "proximity": self.vicinity.size}
        return {
            **{kind: self.by_subscriber(n.astype(np.int64)) for kind, n in views.items()},
            **super().links(),
        }
