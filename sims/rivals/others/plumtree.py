"""Plumtree over HyParView: events are pushed along a tree and announced along other links.

Leitão, Pereira, Rodrigues: *Epidemic Broadcast Trees*, SRDS 2007, Sections 3.3 to 3.6 and 3.8. Every new
link is *eager*, part of the tree. A peer that receives a message a second time makes the link *lazy*, and
tells the sender (`Prune`). Along lazy links messages are only announced. A peer that misses an announced
message makes the link eager again and requests the message (`Graft`). One that hears by an announcement of a
way that is shorter by `optimise` hops makes that link eager and its old one lazy (Section 3.8; off by
default).

Readings:

- Announcements of several events are not combined into one message, because events are published one at a
  time. Combining saves at most the header, 12 of the 20 bytes of each announcement.
- In the paper the stream of messages itself shapes the tree. Here nothing is published while an overlay is
  built, so members send beacons: a member that has received none for `BEACONS` cycles sends one in its turn.
  A beacon reaches the whole group, so there is about one every other cycle in each group. Beacons,
  announcements, `Prune` and `Graft` are billed as upkeep. They go along every link, so they also detect
  broken links. The timers for a beacon end when no copy of it is in transit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sims.rivals.base.entrants import Knob, Look, Variant
from sims.rivals.base.grouped import Grouped
from sims.rivals.base.objects import ORDER, ObjectLayer
from sims.rivals.base.push_tables import PushRules, PushTables
from sims.rivals.below.hyparview import HyParViewPeer, HyParViewSettings
from sub2sub.compiled.common.layer import Layer
from sub2sub.errors import require
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import NAME
from sub2sub.peers.draws import Dice

BEACONS = 2  # cycles without a beacon after which a member sends one


@dataclass(frozen=True)
class PlumtreeSettings(HyParViewSettings):
    """Settings of HyParView, and of the tree.

    Attributes
    ----------
    optimise : int
        By how many hops another way has to be shorter for a peer to change to it; 0 for never.
    """

    optimise: int = 0


class PlumtreePeer(HyParViewPeer):
    """A HyParView peer whose active links are eager or lazy.

    Attributes
    ----------
    lazy : list of int
        Those of the active links that are no branches of the tree.
    heard : int
        The last cycle in which a beacon came.

    Examples
    --------
    >>> peer = PlumtreePeer(1, HyParViewSettings())
    >>> peer.active = [2, 3]
    >>> peer.prune(3)
    >>> peer.eager(), peer.lazy
    ([2], [3])
    >>> peer.graft(3)
    >>> peer.eager(), peer.lazy
    ([2, 3], [])
    """

    kept: ClassVar[tuple[str, ...]] = (*HyParViewPeer.kept, "lazy", "heard")

    def __init__(self, own: int, settings: HyParViewSettings) -> None:
        super().__init__(own, settings)
        self.lazy: list[int] = []
        self.heard = 0

    def eager(self) -> list[int]:
        """Branches of the tree."""
        return [other for other in self.active if other not in self.lazy]

    def prune(self, other: int) -> None:
        """Take a link out of the tree."""
        if other in self.active and other not in self.lazy:
            self.lazy.append(other)

    def graft(self, other: int) -> None:
        """Make a link a branch of the tree."""
        if other in self.lazy:
            self.lazy.remove(other)

    def _close(self, other: int) -> None:
        super()._close(other)
        self.graft(other)


class TreeLayer(ObjectLayer[PlumtreePeer]):
    """Plumtree over HyParView.

    Examples
    --------
    >>> import numpy as np
    >>> from sub2sub.compiled.common.network import Network
    >>> layer, network = TreeLayer(60, PlumtreeSettings(), seed=1), Network.whole(60)
    >>> layer.join(np.arange(60), np.arange(-1, 59), cycle=0)
    >>> costs = [layer.step(cycle, network) for cycle in range(1, 15)]
    >>> sum(len(peer.eager()) for peer in layer.peers) == 2 * 59  # a tree
    True
    """

    def __init__(self, n: int, settings: PlumtreeSettings, seed: int) -> None:
        self.optimise = settings.optimise
        super().__init__("plumtree", n, lambda peer: PlumtreePeer(peer, settings), settings.tries, seed)

    def turns(self, cycle: int, dice: Dice) -> None:
        """Keep the views, then send beacons."""
        super().turns(cycle, dice)
        for peer in self.transport.live(dice.of_peer(ORDER - 1)):
            if self.peers[peer].heard <= cycle - BEACONS:
                self._beacon(peer, cycle)

    def _beacon(self, source: int, cycle: int) -> None:
        """Spread a beacon to all that can be reached."""
        peers, transport = self.peers, self.transport
        arrivals, announced = deque([(source, -1, 0)]), deque[tuple[int, int, int]]()
        came: dict[int, tuple[int, int]] = {}  # from whom, after how many hops
        while arrivals or announced:
            if arrivals:
                member, sender, hops = arrivals.popleft()
                if peers[member].heard < cycle:
                    peers[member].graft(sender)
                    peers[member].heard, came[member] = cycle, (sender, hops)
                    self._pass_on(member, sender, hops + 1, arrivals, announced)
                else:
                    peers[member].prune(sender)
                    if transport.arrives(member, sender, NAME):  # Prune
                        peers[sender].prune(member)
                continue
            member, sender, hops = announced.popleft()
            if sender not in peers[member].active:
                continue
            if peers[member].heard < cycle:
                if self._graft(member, sender) and transport.arrives(sender, member, NAME):
                    arrivals.append((member, sender, hops))
            elif self.optimise and member in came and came[member][1] - hops >= self.optimise:
                old, _ = came.pop(member)  # the first announcement has the shortest way
                self._graft(member, sender)
                peers[member].prune(old)
                if transport.arrives(member, old, NAME):
                    peers[old].prune(member)

    def _graft(self, member: int, sender: int) -> bool:
        """Make a link a branch of the tree; whether its other end knows."""
        self.peers[member].graft(sender)
        if knows := self.transport.arrives(member, sender, NAME):
            self.peers[sender].graft(member)
        return knows

    def _pass_on(
        self,
        member: int,
        sender: int,
        hops: int,
        arrivals: deque[tuple[int, int, int]],
        announced: deque[tuple[int, int, int]],
    ) -> None:
        """Send a beacon along the tree, and announce it along other links."""
        peer = self.peers[member]
        for other in list(peer.active):
            if other == sender:
                continue
            reached = announced if other in peer.lazy else arrivals
            if self.transport.arrives(member, other, NAME):
                reached.append((other, member, hops))
            else:
                sends = peer.unreachable(other, None, self.transport.dice[member])
                self.transport.carry(self.peers, member, sends)


@dataclass(frozen=True)
class LazyPush:
    """Settings of Plumtree's dissemination.

    Attributes
    ----------
    wait : int
        Hops between the announcement of a missing event and the request for it. With fewer, events are
        requested that are in transit; with more, broken trees cost more time.
    retries : int
        How often a push is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    wait: int = 4
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, wait=0, retries=0)


class Plumtree(Grouped):
    """A tree in each group."""

    name = "plumtree"
    layers = PlumtreeSettings
    dissemination = LazyPush
    knobs = tuple(Knob(wait=w, retries=r) for w, r in ((2, 0), (4, 0), (8, 0), (16, 0), (8, 1), (8, 2)))
    probe = Knob(wait=4, retries=0)
    look = Look("green", "o", "-")
    variants: ClassVar[dict[str, Variant]] = {
        "view 4": Variant(PlumtreeSettings(active=4, passive=24), look=Look("green", "v", ":")),
        "optimised": Variant(PlumtreeSettings(optimise=3), look=Look("green", "<", ":")),
    }
    layer_names = ("plumtree",)

    def protocol(self, population: Population, layers: PlumtreeSettings | None) -> Sequence[Layer]:
        """Plumtree, which keeps HyParView's views as well."""
        self.layer = TreeLayer(len(population), layers or PlumtreeSettings(), self.seed)
        return [self.layer]

    def tables(self) -> PushTables:
        """Branches of the tree, and other active links."""
        peers = self.layer.peers
        return PushTables.of([peer.eager() for peer in peers], lazy=[peer.lazy for peer in peers])

    def rules(self, settings: LazyPush) -> PushRules:
        """Announce to all at once."""
        return PushRules(wait=settings.wait, retries=settings.retries)

    def own_links(self) -> dict[str, Sequence[Sequence[int]]]:
        """Links of both views."""
        peers = self.layer.peers
        return {"active": [peer.active for peer in peers], "passive": [peer.passive for peer in peers]}
