"""The census of all communities at once, a cycle at a time. Rules: `hierarchy.compiled.census.rules`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.compiled.census.rules import (
    Counts,
    advance_all,
    choose_askers,
    compare_all,
    enter_all,
    sizes_of,
    tell_all,
)
from hierarchy.compiled.common.channel import WORD, Channel
from hierarchy.peers.census import STREAM
from hierarchy.peers.settings import CensusSettings
from sub2sub.compiled.common.layer import SavedState
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.peers.draws import cycle_key


class Census(SavedState):
    """The members' estimates of the sizes of their communities.

    Parameters
    ----------
    n : int
        Number of members, including future ones.

    Examples
    --------
    >>> from hierarchy.camcast import Communities, StaticTables
    >>> from hierarchy.compiled.common.channel import channel_of
    >>> from sub2sub.compiled.common.network import Network
    >>> group = Communities.chain(10, 500)
    >>> tables, census = StaticTables(group).draw(seed=1), Census(510, seed=1)
    >>> census.join(np.arange(510), cycle=0)
    >>> for cycle in range(40):
    ...     cost = census.step(cycle, tables.topic_table, channel_of(Network.whole(510)))
    >>> sizes = census.sizes()
    >>> bool(6 < sizes[0] < 15), bool(350 < sizes[100] < 700)
    (True, True)
    """

    name = "census"
    saved = ("counts", "joined")

    def __init__(self, n: int, seed: int, settings: CensusSettings | None = None) -> None:
        self.seed = seed
        self.settings = settings or CensusSettings()
        first = cycle_key(seed, STREAM, 0)
        self.counts = Counts(
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
            np.zeros((n, self.settings.minima), np.uint32),
            np.zeros(n),
            np.zeros((n, self.settings.minima), np.uint32),
            np.full(n, -1, np.int32),
            np.full(n, -1, np.int32),
            np.array([peer_key(first, member) for member in range(n)], np.uint64),
        )
        self.joined = np.zeros(n, np.uint8)

    def join(self, peers: ArrayLike, cycle: int) -> None:
        """Start `peers` without an earlier count."""
        members = np.asarray(peers, np.int64)
        self.joined[members] = 1
        enter_all(self.counts, members, np.int64(cycle))

    def leave(self, peers: ArrayLike) -> None:
        """Leave `peers` out of the next counts."""
        self.joined[np.asarray(peers, np.int64)] = 0

    def step(self, cycle: int, topic_table: NDArray[np.int32], channel: Channel) -> dict[str, int]:
        """Begin counts that are due, and send tallies along the topic tables."""
        s, present = self.settings, channel.alive * self.joined
        advance_all(self.counts, present, cycle, s.period)
        key = cycle_key(self.seed, STREAM, 1 + cycle)
        rules = (s.fan, s.period)
        tell_all(self.counts, topic_table, present, rules, np.int64(cycle), channel, key)
        return {"messages": channel.messages, "bytes": channel.messages * self.tally_bytes}

    @property
    def tally_bytes(self) -> int:
        """Bytes of a message with a tally."""
        return 2 * WORD + 4 * self.settings.minima

    def askers(self, cycle: int, channel: Channel) -> NDArray[np.int64]:
        """The members that ask a contact in this cycle whether both are in one part of their community."""
        key = cycle_key(self.seed, STREAM, 1 + cycle)
        members: NDArray[np.int64] = choose_askers(
            self.counts, channel.alive * self.joined, float(self.settings.askers), key
        )
        return members

    def apart(
        self, members: NDArray[np.int64], others: NDArray[np.int64], cycle: int, channel: Channel
    ) -> NDArray[np.bool_]:
        """Which of `members` learn from `others` that they are in another part; two messages each."""
        is_apart = np.zeros(len(members), np.bool_)
        key = cycle_key(self.seed, STREAM, 1 + cycle)
        compare_all(self.counts, members, others, channel, key, is_apart)
        return is_apart

    def sizes(self) -> NDArray[np.float64]:
        """Each member's estimate of the size of its community: by its last count, else by the current one."""
        counted = self.counts.size
        return np.where(counted > 0, counted, sizes_of(self.counts.minima))
