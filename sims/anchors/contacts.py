"""Contacts in the groups of supertopics, to which publishers send their events.

GossipSub calls them fan-out peers: members of a group to which a publisher outside the group sends. Every
member keeps `ENTRIES` of each group above its own. It probes them from time to time, drops those that do not
answer, and asks the rendezvous for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.anchors.groups import Groups
from sub2sub.kernels.randomness import cycle_key, draws, peer_key, stream_number
from sub2sub.overlay.network import Network
from sub2sub.overlay.sizes import HEADER, LINK, NAME
from sub2sub.overlay.views import table_links

STREAM = stream_number("anchors/entries")
ENTRIES, CHECKS, TRIES = 3, 0.1, 3

Integers = NDArray[np.int64]


class Entries:
    """The layer of these contacts.

    Parameters
    ----------
    groups : Groups
    seed : int

    Attributes
    ----------
    contact : (n, levels, ENTRIES) int32
        Members of the group of the level-th topic above each peer's own; -1 for none.
    """

    name = "entries"

    def __init__(self, groups: Groups, seed: int) -> None:
        self.groups, self.seed = groups, seed
        n, levels = len(groups.of), max(len(above) for above in groups.above)
        self.contact = np.full((n, levels, ENTRIES), -1, np.int32)
        self._above = np.full((len(groups.above), levels), -1, np.int64)
        for topic, above in enumerate(groups.above):
            self._above[topic, : len(above)] = above
        self.sent, self.bytes = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let some members probe their contacts, and those with free places ask for others."""
        key = cycle_key(self.seed, STREAM, cycle)
        self.sent[:], self.bytes[:] = 0, 0
        alive = (network.alive == 1) & (self.groups.of >= 0)
        bits = draws(key, np.arange(len(alive)))
        checking = alive & (bits < np.uint64(CHECKS * 2**64))
        above = np.where(self.groups.of[:, None] >= 0, self._above[self.groups.of], -1)
        messages = failed = 0
        for level in range(self.contact.shape[1]):
            for place in range(ENTRIES):
                who = np.flatnonzero(checking & (self.contact[:, level, place] >= 0))
                copies, vain = self._check(who, level, place, network, key)
                messages, failed = messages + copies, failed + vain
            wanted = above[:, level]
            known = (self.contact[:, level] >= 0).sum(axis=1)
            lacking = alive & (wanted >= 0) & (known < ENTRIES) & (checking | (known == 0))
            who = np.flatnonzero(lacking)
            self._ask(who, wanted[who], level, network, key)
            messages += 2 * len(who)
        return {"messages": messages, "failed": failed, "bytes": int(self.bytes.sum())}

    def _check(
        self, who: Integers, level: int, place: int, network: Network, key: np.uint64
    ) -> tuple[int, int]:
        """Probe contacts, repeatedly while there is no answer."""
        contact = self.contact[who, level, place]
        number = 1 + 3 * (level * ENTRIES + place)
        shares = [draws(key, who, number + k) / 2.0**64 for k in range(2)]
        there = (network.alive[contact] == 1) & (network.group[contact] == network.group[who])
        copies, answered = np.where(there, 0, TRIES), there
        answers = np.zeros_like(copies)
        for k, share in enumerate(shares):
            often = 1 + sum((share < network.loss**again).astype(np.int64) for again in range(1, TRIES))
            if k == 0:
                copies = np.where(there, often, copies)
            else:
                answers = np.where(answered, often, 0)
            answered = answered & (share >= network.loss**TRIES)
        for payers, count in ((who, copies), (contact, answers)):
            np.add.at(self.sent, payers, count)
            np.add.at(self.bytes, payers, HEADER * count)
        self.contact[who[~answered], level, place] = -1
        return int(copies.sum() + answers.sum()), int((copies + answers).sum() - 2 * answered.sum())

    def _ask(self, who: Integers, topics: Integers, level: int, network: Network, key: np.uint64) -> None:
        """Let the rendezvous name contacts for all free places."""
        for place in range(ENTRIES):
            bits = draws(np.uint64(peer_key(key, -1 - level)), who, place)
            named = self.groups.name(topics, who, network.alive, bits)
            held = (self.contact[who, level] == named[:, None]).any(axis=1)
            free = (self.contact[who, level, place] < 0) & (named >= 0) & ~held
            self.contact[who[free], level, place] = named[free]
        self.sent[who] += 2
        self.bytes[who] += 2 * HEADER + NAME + ENTRIES * LINK

    def join(self, peers: Integers, contacts: Integers, cycle: int) -> None:
        """Drop all contacts."""
        self.contact[peers] = -1

    def links(self) -> tuple[Integers, Integers, Integers]:
        """The contacts."""
        return table_links(self.contact)

    def spent(self) -> tuple[Integers, Integers]:
        """Messages and bytes of the last cycle, by peer."""
        return self.sent, self.bytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        return {"contact": self.contact}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        self.contact[...] = arrays["contact"]
