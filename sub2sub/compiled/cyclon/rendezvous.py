"""The rendezvous service: peers ask it for a contact again, as when they joined.

Not in Sub-2-Sub, whose nodes "join by contacting any one node of the network" (Section 4.1), once. If the
first messages of a newcomer are lost, or the peers that it knows crash one after the other, a few peers may
know only one another, and gossip does not connect them to the rest. Such a group is small, so the random
views of its members never become full, while those of all other peers are full. So a peer whose random view
has not been full for `patience` cycles asks for a contact again, and CYCLON shuffles with that next
(`CyclonSettings.retry`). Without loss and crashes, no peer asks.

The rendezvous service itself is outside the model: it names a random live peer and is always available; the
question and the answer are counted. In a partitioned network the peer that it names may be out of reach.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.errors import InputError
from sub2sub.peers.descriptors import HEADER, LINK
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("rendezvous")
Peers = NDArray[np.int64]


class Rendezvous(LayerBase):
    """The layer that lets peers with incomplete random views ask for a contact again.

    Parameters
    ----------
    cyclon : Cyclon
        The layer whose views are checked; the engine steps it after this one.
    patience : int
        Cycles that a view may be incomplete before its peer asks, and between two questions; 0 for never. If
        CYCLON does not retry, peers never ask.

    Attributes
    ----------
    since : (n,) int32
        Cycle in which each peer's view was last full, or in which it joined or last asked.

    Examples
    --------
    >>> from sub2sub.peers.settings import CyclonSettings
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
        """Let peers ask whose views have been incomplete for long enough."""
        self._asked[:] = 0
        if not self.patience:
            return {"messages": 0, "failed": 0, "bytes": 0}
        incomplete = (self.cyclon.size < self.cyclon.settings.view) & (network.alive == 1)
        self.since[~incomplete] = cycle
        asking = np.flatnonzero(incomplete & (cycle - self.since >= self.patience))
        live = np.flatnonzero(network.alive)
        if asking.size and live.size > 1:
            bits = draws(cycle_key(self.seed, STREAM, cycle), asking)
            # Any live peer except the one that asks: some steps after its own place.
            own = np.searchsorted(live, asking)
            steps = 1 + (bits % np.uint64(live.size - 1)).astype(np.int64)
            self.cyclon.lost[asking] = live[(own + steps) % live.size]
            self.since[asking] = cycle
        self._asked[asking] = 1
        messages = 2 * int(asking.size)
        return {"messages": messages, "failed": 0, "bytes": messages * HEADER + int(asking.size) * LINK}

    def spent(self) -> tuple[Peers, Peers]:
        """Messages and bytes of the last cycle, by peer; the reply counts for the peer that asks."""
        return 2 * self._asked, (2 * HEADER + LINK) * self._asked

    def join(self, peers: Peers, contacts: Peers, cycle: int) -> None:
        """Note when peers joined."""
        self.since[peers] = cycle

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        self.since, self._asked = moved.rows(self.since, 0), moved.rows(self._asked, 0)
