"""SCAMP as a layer: joins, leases, heartbeats and balancing, a cycle at a time.

Rules and reference: `hierarchy.compiled.scamp.rules`. A subscription ends with its lease: its entries are
removed from all views, and its owner, which keeps its own view, subscribes again through a random member of
that view. A member that has received no heartbeat for a while assumes that it is isolated and does the same;
so does a member with an empty view, at once. If no member of the view answers, they try members that have
them in their views, and then their first contact.

Messages take no time within a cycle; joins and leaves are served at the start of the next step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.compiled.common.channel import WORD, Channel, Sent, channel_of
from hierarchy.compiled.common.rows import named
from hierarchy.compiled.scamp.rules import ScampRules, ScampViews
from hierarchy.compiled.scamp.steps import (
    balance,
    beat,
    clear_all,
    expire,
    leave_all,
    merge_all,
    refill_key,
    subscribe_all,
)
from hierarchy.peers.scamp import STREAM
from hierarchy.peers.settings import ScampSettings
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import LinkTable, table_links
from sub2sub.peers.draws import cycle_key


class Scamp(LayerBase):
    """Partial views of a population, kept by SCAMP.

    Parameters
    ----------
    n : int
        Number of members, including future ones.

    Examples
    --------
    >>> network = Network.whole(300)
    >>> scamp = Scamp(300, seed=1)
    >>> scamp.join(np.arange(300), np.r_[-1, np.arange(299)], cycle=0)
    >>> cost = scamp.step(0, network)
    >>> bool(6 < scamp.views.size.mean() < 15)  # ln 300 is 5.7
    True
    """

    name = "scamp"
    saved = ("views", "joining", "leaving")

    def __init__(self, n: int, seed: int, settings: ScampSettings | None = None) -> None:
        self.seed = seed
        self.settings = settings or ScampSettings()
        capacity = 16
        self.views = ScampViews(
            np.full((n, capacity), -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros((n, capacity), np.int32),
            np.zeros((n, capacity)),
            np.full((n, 4 * capacity), -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
            np.full(n, -1, np.int64),
            np.zeros(n, np.int32),
            np.zeros(n, np.uint8),
            np.full(n, -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros(2, np.int32),
        )
        self.joining = np.empty(0, np.int64)
        self.leaving = np.empty(0, np.int64)
        self.sent: Sent = ()

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` with empty views and one contact each (-1: found a community), in this order."""
        peers, contacts = np.asarray(peers, np.int64), np.asarray(contacts, np.int64)
        self.joining = np.concatenate([self.joining[~np.isin(self.joining, peers)], peers])
        self.leaving = self.leaving[~np.isin(self.leaving, peers)]
        clear_all(self.views, peers)
        self.views.contact[peers] = contacts

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Let `peers` unsubscribe in the next step; they may have left the network by then."""
        peers = np.asarray(peers, np.int64)
        self.joining = self.joining[~np.isin(self.joining, peers)]
        self.leaving = np.concatenate([self.leaving, peers])

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Serve leaves and joins, renew leases, send heartbeats."""
        key = cycle_key(self.seed, STREAM, cycle)
        channel = channel_of(network)
        s = self.settings
        self._serve(leave_all, self.leaving, cycle, key, channel)
        self.joining, joining = self.joining[:0], self.joining
        self.leaving = self.leaving[:0]
        self._serve(subscribe_all, joining, cycle, key, channel, False)
        v = self.views
        due = (v.lease_end <= cycle) | (v.heard < cycle - s.isolation) | (v.size == 0)
        due |= (v.asked >= 0) & (v.asked <= cycle - s.patience)
        due &= (network.alive == 1) & (v.lease_end > 0)
        self._serve(subscribe_all, np.flatnonzero(due), cycle, key, channel, True)
        expire(self.views, network.alive, cycle)
        v = self.views
        again = np.uint64(refill_key(key))
        empty = (v.size == 0) & ~due & (network.alive == 1) & (v.lease_end > 0)
        self._serve(subscribe_all, np.flatnonzero(empty), cycle, again, channel, True)
        subscriptions = channel.messages
        beat(self.views, cycle, channel, key)
        beats, weights = channel.messages - subscriptions, channel.afresh()
        if s.indirection:
            balance(self.views, weights, key)
        balancing = weights.messages
        self.sent = (channel.sent, WORD), (weights.sent, 2 * WORD)
        return {
            "messages": subscriptions + beats + balancing,
            "failed": int(channel.failed[0]),
            "bytes": WORD * (subscriptions + beats + 2 * balancing),
            "subscriptions": subscriptions,
            "heartbeats": beats,
        }

    def merge(self, members: ArrayLike, others: ArrayLike, cycle: int, channel: Channel) -> None:
        """Connect members to the parts of their communities that `others` are in.

        The answer that told a member of the other part contained its lease, so the link needs no message.
        """
        pairs = np.stack([np.asarray(members, np.int64), np.asarray(others, np.int64)], axis=1)
        self._serve(merge_all, pairs, cycle, cycle_key(self.seed, STREAM, cycle), channel)

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members are in the view or InView of a live member, or are its contact."""
        live = alive == 1
        return named(len(alive), self.views.partial[live], self.views.inward[live], self.views.contact[live])

    def links(self) -> LinkTable:
        """The partial views as (holders, members, stamps of 0)."""
        return table_links(self.views.partial)

    def _serve(
        self, serve: Any, members: NDArray[np.int64], cycle: int, key: Any, channel: Channel, *more: bool
    ) -> None:
        """Serve members one after the other; widen the rows whenever the next might not fit."""
        s = self.settings
        rules = ScampRules(s.c, s.lease, s.indirection, s.hop_limit, s.contact_first)
        done = 0
        while done < len(members):
            start = done
            done = serve(self.views, members, done, rules, np.int64(cycle), channel, key, *more)
            if done < len(members) or done == start:
                self._widen()

    def _widen(self) -> None:
        """Double the length of all rows."""
        wider = {
            name: np.pad(rows, ((0, 0), (0, rows.shape[1])), constant_values=0 if name == "weight" else -1)
            for name, rows in self.views._asdict().items()
            if rows.ndim == 2
        }
        self.views = self.views._replace(**wider)
