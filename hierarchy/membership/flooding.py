"""The unstructured membership, with super-contacts found by flooding a neighbourhood (CAMCAST, Section 3.3).

FIND_SUPER_CONTACT as Figure 5 has it: a request spreads from neighbour to neighbour, whatever their topics,
instead of to gateways (`hierarchy.super_tables.flood`). The neighbourhood is the view of a CYCLON of all
processes, which is kept by messages that are billed. A newcomer to it gets one of the last that came as its
contact. Communities are still entered through their gateways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.settings import Settings
from hierarchy.membership.census.settings import CensusSettings
from hierarchy.membership.scamp.settings import ScampSettings
from hierarchy.membership.scamp_membership import part
from hierarchy.membership.unstructured import Unstructured
from hierarchy.super_tables.flood import Flood
from hierarchy.topics import TopicTree
from sub2sub.cyclon.layer import Cyclon
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.network import Network
from sub2sub.overlay.views import FREE

STREAM = stream_number("flooding contacts")
RECENT = 8  # peers that came last, one of whom a newcomer gets as its contact


class Flooding(Unstructured):
    """SCAMP views as topic tables; super-contacts are found by flooding the views of a CYCLON.

    Parameters
    ----------
    tree, topic, seed, settings, scamp, census, true_sizes
        As of `Unstructured`.
    ttl : int
        Steps a request goes at most.
    cyclon : CyclonSettings, optional
        Of the neighbourhood; views of 8 by default.

    Examples
    --------
    >>> from hierarchy.camcast import Communities
    >>> group = Communities.chain(7, 27, 84)
    >>> membership, network = Flooding(group.tree, group.topic, seed=1), Network.whole(118)
    >>> membership.join(np.arange(118), np.full(118, -1), cycle=0)
    >>> for cycle in range(10):
    ...     cost = membership.step(cycle, network)
    >>> tables = membership.tables()
    >>> bool((tables.super_table[tables.topic > 0, 0, 0] >= 0).all())
    True
    """

    name = "flooding"

    def __init__(
        self,
        tree: TopicTree,
        topic: ArrayLike,
        seed: int,
        settings: Settings | None = None,
        scamp: ScampSettings | None = None,
        census: CensusSettings | None = None,
        true_sizes: bool = False,
        ttl: int = 3,
        cyclon: CyclonSettings | None = None,
    ) -> None:
        n = np.asarray(topic).size
        self.cyclon = Cyclon(n, cyclon or CyclonSettings(view=8, shuffle=4), seed)
        self.flood = Flood(np.full(self.cyclon.view.shape, -1, np.int32), ttl)
        self.recent = np.full(RECENT, -1, np.int64)
        super().__init__(tree, topic, seed, settings, scamp, self.flood, census, true_sizes)

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty tables, each with one of the last that came as its first neighbour."""
        newcomers = np.asarray(peers, np.int64)
        came = np.concatenate([self.recent[self.recent >= 0], newcomers])
        before = len(came) - len(newcomers) + np.arange(len(newcomers))  # how many came before each of them
        drawn = draws(cycle_key(self.seed, STREAM, cycle), newcomers)
        back = 1 + (drawn % np.maximum(np.minimum(before, RECENT), 1).astype(np.uint64)).astype(np.int64)
        first = np.where(before > 0, came[np.maximum(before - back, 0)], -1)
        self.cyclon.join(newcomers, np.where(first == newcomers, -1, first), cycle)
        self.recent[: min(len(came), RECENT)] = came[-RECENT:]
        super().join(peers, contacts, cycle)

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Step the neighbourhood, then everything else."""
        kept = self.cyclon.step(cycle, network)
        view = self.cyclon.view
        self.flood.neighbourhood[:] = np.where(view == FREE, -1, view & 0xFFFFFFFF)
        costs = super().step(cycle, network)
        for name in ("messages", "failed", "bytes"):
            costs[name] += kept[name]
        return {**costs, "neighbourhood": kept["messages"]}

    def spent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """With the neighbourhood."""
        messages, size = (own + kept for own, kept in zip(super().spent(), self.cyclon.spent(), strict=True))
        return messages, size

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live member still refers to."""
        found = super().referenced(alive)
        holders, peers, _ = self.cyclon.links()
        found[peers[alive[holders] == 1]] = True
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores."""
        own = {f"cyclon {name}": array for name, array in self.cyclon.arrays().items()}
        return {**super().arrays(), **own, "recent": self.recent}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
        super().load(arrays)
        self.cyclon.load(part(arrays, "cyclon "))
        self.recent[:] = arrays["recent"]
