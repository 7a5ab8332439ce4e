"""Single messages between members, for systems that route events hop by hop in Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.compiled.timing.settings import AGAIN
from sub2sub.peers.draws import Dice


@dataclass
class RouteSender:
    """Sends the messages of one event on its route.

    Attributes
    ----------
    network : Network
    clock : Clock
    dice : Dice
        Random numbers for losses.
    retries : int
        How often a message is repeated that is not acknowledged.

    Examples
    --------
    >>> route = RouteSender(Network.whole(2), Clock.of(None, np.arange(2)), Dice(1), retries=2)
    >>> route.send(0, 1, now=4.0)
    (1, 5.0)
    """

    network: Network
    clock: Clock
    dice: Dice
    retries: int

    def send(self, sender: int, target: int, now: float) -> tuple[int, float | None]:
        """Send a message; copies sent, and when it arrives, None for never."""
        network = self.network
        reachable = network.alive[target] == 1 and network.group[sender] == network.group[target]
        leaves = now + self.clock.occupied
        for copy in range(self.retries + 1):
            lost = network.loss > 0 and self.dice.next_unit() < network.loss
            if reachable and not lost:
                took = travel(self.clock, sender, target, copy, np.uint64(self.dice.key))
                return copy + 1, leaves + float(took)
        return self.retries + 1, None

    @property
    def silence(self) -> float:
        """How long a sender waits before it considers a target dead."""
        return (self.retries + 1) * AGAIN * self.clock.tick if self.clock.timed else 0.0
