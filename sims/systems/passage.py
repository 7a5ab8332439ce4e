"""One message at a time from member to member, for routes that are followed from Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sub2sub.kernels.dice import Dice
from sub2sub.overlay.network import Network
from sub2sub.timing.latency import Clock, travel
from sub2sub.timing.settings import AGAIN

__all__ = ["Passage"]


@dataclass
class Passage:
    """What happens to the messages of one event on its route.

    Attributes
    ----------
    network : Network
    clock : Clock
    dice : Dice
        Of what is lost.
    retries : int
        Times a message is sent again that is not acknowledged.

    Examples
    --------
    >>> whole = Passage(Network.whole(2), Clock.of(None, np.arange(2)), Dice(1), retries=2)
    >>> whole.send(0, 1, now=4.0)
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
        """How long a sender waits until it takes a target to be gone."""
        return (self.retries + 1) * AGAIN * self.clock.tick if self.clock.timed else 0.0
