"""Messages between peers that are objects: delivery, loss and cost.

A peer returns the messages to send, as (target, message) pairs, and is notified when one could not be
delivered. Connections behave like TCP: a lost message is repeated, `tries` times in all; if all copies are
lost, its target is *unreachable*. The sender is billed for every copy. Headers of TCP and IP are not counted
(`sub2sub.peers.descriptors`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.peers.descriptors import HEADER
from sub2sub.peers.draws import Dice

if TYPE_CHECKING:
    from sims.anchors.objects import ObjectPeer

Sends = Iterable[tuple[int, Any]]


class Transport:
    """The messages of one layer.

    Attributes
    ----------
    messages, bytes : list of int
        What each peer has sent in the current cycle.
    failed : int
        Messages that did not arrive.

    Examples
    --------
    >>> transport = Transport(2, tries=3)
    >>> network = Network.whole(2)
    >>> network.alive[1] = 0
    >>> transport.open(network, Dice(1))
    >>> transport.arrives(0, 1, 10), transport.messages, transport.bytes
    (False, [3, 0], [66, 0])
    """

    def __init__(self, n: int, tries: int = 3) -> None:
        self.n, self.tries = n, tries
        self.messages, self.bytes, self.failed = [0] * n, [0] * n, 0
        self.alive: list[int] = []
        self.group: list[int] = []
        self.loss, self.losses, self.dice = 0.0, Dice(0), [Dice(0)] * 0

    def open(self, network: Network, dice: Dice) -> None:
        """Begin a cycle."""
        self.messages, self.bytes, self.failed = [0] * self.n, [0] * self.n, 0
        self.alive, self.group = network.alive.tolist(), network.group.tolist()
        self.loss, self.losses = float(network.loss), dice.of_peer(-1)
        self.dice = [dice.of_peer(peer) for peer in range(self.n)]

    def arrives(self, sender: int, target: int, size: int) -> bool:
        """Send a message, repeated while it is lost; whether it arrives."""
        copies, there = 1, True
        if not self.alive[target] or self.group[sender] != self.group[target]:
            copies, there = self.tries, False
        elif self.loss > 0.0:
            there = self.losses.next_unit() >= self.loss
            while not there and copies < self.tries:
                copies += 1
                there = self.losses.next_unit() >= self.loss
        self.messages[sender] += copies
        self.bytes[sender] += copies * (HEADER + size)
        self.failed += copies - there
        return there

    def carry(self, peers: Sequence[ObjectPeer], sender: int, sends: Sends) -> None:
        """Deliver messages and all that follow from them, the first sent first."""
        queue, dice = deque((sender, target, message) for target, message in sends), self.dice
        while queue:
            sender, target, message = queue.popleft()
            if self.arrives(sender, target, message.size):
                author, sends = target, peers[target].receive(sender, message, dice[target])
            else:
                author, sends = sender, peers[sender].unreachable(target, message, dice[sender])
            for further, answer in sends:
                queue.append((author, further, answer))

    def live(self, order: Dice) -> Iterator[int]:
        """Live peers, in a random order."""
        marks = sorted((order.bits(peer), peer) for peer in range(self.n) if self.alive[peer])
        return (peer for _, peer in marks)

    def bill(self) -> dict[str, int]:
        """What the cycle cost."""
        return {"messages": sum(self.messages), "failed": self.failed, "bytes": sum(self.bytes)}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the cycle, by peer."""
        return np.array(self.messages, np.int64), np.array(self.bytes, np.int64)
