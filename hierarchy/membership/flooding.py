"""The unstructured membership, with super-contacts found by flooding a neighbourhood (CAMCAST, Section 3.3).

FIND_SUPER_CONTACT as in Figure 5: a request spreads from neighbour to neighbour of any topic, not to gateways
(`hierarchy.compiled.super_tables.flood`). Neighbours are the entries of the view in a CYCLON overlay of all
processes, whose messages are billed. The first neighbour of a newcomer is one of the last processes that
joined. Newcomers still join communities through their gateways.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.compiled.super_tables.flood import Flood
from hierarchy.membership.unstructured import Unstructured
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import CyclonSettings

STREAM = stream_number("flooding contacts")
RECENT = 8  # the peers that joined last; the contact of a newcomer is one of them


class Flooding(Unstructured):
    """SCAMP views as topic tables; super-contacts are found by flooding the views of a CYCLON.

    Parameters
    ----------
    tree, topic, seed, settings, **others
        As of `Unstructured`, which has an example.
    ttl : int
        Maximum number of steps of a request.
    cyclon : CyclonSettings, optional
        Settings of the CYCLON overlay; views of 8 by default.
    """

    name = "flooding"
    saved = (*Unstructured.saved, "cyclon", "recent")

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        *,
        ttl: int = 3,
        cyclon: CyclonSettings | None = None,
        **others: Any,
    ) -> None:
        n = np.asarray(topic).size
        self.cyclon = Cyclon(n, cyclon or CyclonSettings(view=8, shuffle=4), seed)
        self.flood = Flood(np.full(self.cyclon.view.shape, -1, np.int32), ttl)
        self.recent = np.full(RECENT, -1, np.int64)
        super().__init__(tree, topic, seed, settings, finder=self.flood, **others)

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables; the first neighbour of each is one of the last that joined."""
        newcomers = np.asarray(peers, np.int64)
        joined = np.concatenate([self.recent[self.recent >= 0], newcomers])
        before = len(joined) - len(newcomers) + np.arange(len(newcomers))  # how many joined before each
        drawn = draws(cycle_key(self.seed, STREAM, cycle), newcomers)
        back = 1 + (drawn % np.maximum(np.minimum(before, RECENT), 1).astype(np.uint64)).astype(np.int64)
        first = np.where(before > 0, joined[np.maximum(before - back, 0)], -1)
        self.cyclon.join(newcomers, np.where(first == newcomers, -1, first), cycle)
        self.recent[: min(len(joined), RECENT)] = joined[-RECENT:]
        super().join(peers, contacts, cycle)

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Step CYCLON, then everything else."""
        kept = self.cyclon.step(cycle, network)
        view = self.cyclon.view
        self.flood.neighbourhood[:] = np.where(view == FREE, -1, view & 0xFFFFFFFF)
        costs = super().step(cycle, network)
        for name in ("messages", "failed", "bytes"):
            costs[name] += kept[name]
        return {**costs, "neighbourhood": kept["messages"]}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages and bytes of the last cycle by member, with those of CYCLON."""
        messages, size = (own + kept for own, kept in zip(super().spent(), self.cyclon.spent(), strict=True))
        return messages, size

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        mentioned = super().referenced(alive)
        holders, peers, _ = self.cyclon.links()
        mentioned[peers[alive[holders] == 1]] = True
        return mentioned
