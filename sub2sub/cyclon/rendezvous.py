"""The rendezvous: asking once more where one got one's first contact.

Not in Sub-2-Sub, whose nodes "join by contacting any one node of the network" (Section 4.1), once. When
the first messages of a newcomer are lost, or those it has heard of die one after the other, a few peers can
end up knowing nobody but one another, and no gossip leads out of such an island. An island is small, so its
members' random views stay incomplete, while everybody else's are full. So a peer whose random view has not
been full for `patience` cycles asks for a contact again, as it did when it joined, and CYCLON turns to that
one next (`CyclonSettings.retry`). Where nothing is lost and nobody dies, nobody asks.

The rendezvous itself stands outside the model: it names a random live peer, is always up, and costs its
question and its answer. In a divided network the peer it names may be out of reach.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.errors import InputError
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.growth import Renumbering
from sub2sub.overlay.layer import LayerBase
from sub2sub.overlay.network import Network
from sub2sub.overlay.sizes import HEADER, LINK

STREAM = stream_number("rendezvous")
Peers = NDArray[np.int64]


class Rendezvous(LayerBase):
    """The layer that lets peers with incomplete random views ask for a contact again.

    Parameters
    ----------
    cyclon : Cyclon
        The layer whose views are looked at; stepped by the engine, after this one.
    patience : int
        Cycles that a view may be incomplete before its peer asks, and between two questions; 0 for never, and
        so is any number if CYCLON does not retry.

    Attributes
    ----------
    since : (n,) int32
        Cycle in which each peer's view was last full, or in which it joined or last asked.

    Examples
    --------
    >>> from sub2sub.cyclon.settings import CyclonSettings
    >>> cyclon, net = Cyclon(40, CyclonSettings(view=4, shuffle=3, retry=2), seed=1), Network.whole(40)
    >>> cyclon.join(np.arange(40), np.append(np.arange(38) ^ 1, [-1, -1]), cycle=0)  # 19 pairs, 2 alone
    >>> rendezvous = Rendezvous(cyclon, patience=5, seed=1)
    >>> for cycle in range(1, 40):
    ...     cost = rendezvous.step(cycle, net), cyclon.step(cycle, net)
    >>> int(cyclon.size.min()), cost[0]["messages"]
    (4, 0)
    """

    name = "rendezvous"
    saved = ("since",)

    def __init__(self, cyclon: Cyclon, patience: int = 10, seed: int = 0) -> None:
        if patience < 0:
            raise InputError(f"rendezvous.patience: expected 0 or more, got {patience}")
        self.cyclon, self.seed = cyclon, seed
        self.patience = patience if cyclon.settings.retry else 0
        self.since = np.zeros(cyclon.size.size, np.int32)
        self._asked = np.zeros(cyclon.size.size, np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let peers ask that have waited long enough."""
        self._asked[:] = 0
        if not self.patience:
            return {"messages": 0, "failed": 0, "bytes": 0}
        incomplete = (self.cyclon.size < self.cyclon.settings.view) & (network.alive == 1)
        self.since[~incomplete] = cycle
        asking = np.flatnonzero(incomplete & (cycle - self.since >= self.patience))
        live = np.flatnonzero(network.alive)
        if asking.size and live.size > 1:
            bits = draws(cycle_key(self.seed, STREAM, cycle), asking)
            # Any live peer but the one that asks: some steps on from its own place.
            own = np.searchsorted(live, asking)
            steps = 1 + (bits % np.uint64(live.size - 1)).astype(np.int64)
            self.cyclon.lost[asking] = live[(own + steps) % live.size]
            self.since[asking] = cycle
        self._asked[asking] = 1
        messages = 2 * int(asking.size)
        return {"messages": messages, "failed": 0, "bytes": messages * HEADER + int(asking.size) * LINK}

    def spent(self) -> tuple[Peers, Peers]:
        """Messages and bytes of the last cycle, by peer; those that ask are billed for the reply as well."""
        return 2 * self._asked, (2 * HEADER + LINK) * self._asked

    def join(self, peers: Peers, contacts: Peers, cycle: int) -> None:
        """Note when they came."""
        self.since[peers] = cycle

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        self.since, self._asked = moved.rows(self.since, 0), moved.rows(self._asked, 0)
