"""The layer of Plumtree over HyParView: views are kept, and beacons shape the tree.

In the paper the stream of messages itself shapes the tree. Here nothing is published while an overlay is
built, so members send beacons: a member that has received none for `BEACONS` cycles sends one in its turn. A
beacon reaches the whole group, so there is about one every other cycle in each group. Beacons, announcements,
`Prune` and `Graft` are billed as upkeep. They go along every link, so they also detect broken links.

The timers for a beacon end when no copy of it is in transit.
"""

from __future__ import annotations

from collections import deque

from sims.anchors.objects import ORDER, ObjectLayer
from sims.anchors.plumtree.peer import PlumtreePeer
from sub2sub.peers.descriptors import NAME
from sub2sub.peers.draws import Dice

BEACONS = 2  # cycles without a beacon after which a member sends one


class Plumtree(ObjectLayer[PlumtreePeer]):
    """Plumtree over HyParView, with HyParView's settings.

    Examples
    --------
    >>> import numpy as np
    >>> from sims.anchors.hyparview.settings import HyParViewSettings
    >>> from sub2sub.compiled.common.network import Network
    >>> layer, network = Plumtree(60, HyParViewSettings(), seed=1), Network.whole(60)
    >>> layer.join(np.arange(60), np.arange(-1, 59), cycle=0)
    >>> costs = [layer.step(cycle, network) for cycle in range(1, 15)]
    >>> sum(len(peer.eager()) for peer in layer.peers) == 2 * 59  # a tree
    True
    """

    name, kind = "plumtree", PlumtreePeer

    def turns(self, cycle: int, dice: Dice) -> None:
        """Keep the views, then send beacons."""
        super().turns(cycle, dice)
        for peer in self.transport.live(dice.of_peer(ORDER - 1)):
            if self.peers[peer].heard <= cycle - BEACONS:
                self._beacon(peer, cycle)

    def _beacon(self, source: int, cycle: int) -> None:
        """Spread a beacon to all that can be reached."""
        peers, transport = self.peers, self.transport
        arrivals, announced = deque([(source, -1)]), deque[tuple[int, int]]()
        while arrivals or announced:
            if arrivals:
                member, sender = arrivals.popleft()
                if peers[member].heard < cycle:
                    peers[member].graft(sender)
                    peers[member].heard = cycle
                    self._pass_on(member, sender, arrivals, announced)
                else:
                    peers[member].prune(sender)
                    if transport.arrives(member, sender, NAME):  # Prune
                        peers[sender].prune(member)
                continue
            member, sender = announced.popleft()
            if peers[member].heard < cycle and sender in peers[member].active:
                peers[member].graft(sender)
                if transport.arrives(member, sender, NAME):  # Graft
                    peers[sender].graft(member)
                    if transport.arrives(sender, member, NAME):
                        arrivals.append((member, sender))

    def _pass_on(
        self, member: int, sender: int, arrivals: deque[tuple[int, int]], announced: deque[tuple[int, int]]
    ) -> None:
        """Send a beacon along the tree, and announce it along other links."""
        peer = self.peers[member]
        for other in list(peer.active):
            if other == sender:
                continue
            reached = announced if other in peer.lazy else arrivals
            if self.transport.arrives(member, other, NAME):
                reached.append((other, member))
            else:
                sends = peer.unreachable(other, None, self.transport.dice[member])
                self.transport.carry(self.peers, member, sends)
