"""Contacts in the groups of supertopics, to which publishers send their events.

GossipSub calls them fan-out peers: the members of a group to which a publisher outside the group sends. Every
peer keeps `ENTRIES` contacts in each group above its own. It probes them from time to time, drops those that
do not answer, and asks the rendezvous for others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sims.anchors.groups import Groups
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws, peer_key
from sub2sub.compiled.common.views import LinkTable, table_links
from sub2sub.peers.descriptors import HEADER, LINK, NAME
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("anchors/entries")
ENTRIES, CHECKS, TRIES = 3, 0.1, 3

Integers = NDArray[np.int64]


class Entries(LayerBase):
    """The layer of these contacts.

    Attributes
    ----------
    contact : (n, levels, ENTRIES) int32
        Members of the group of the level-th topic above each peer's own; -1 for none.
    """

    name, saved = "entries", ("contact",)

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
                peers = np.flatnonzero(checking & (self.contact[:, level, place] >= 0))
                copies, wasted = self._check(peers, level, place, network, key)
                messages, failed = messages + copies, failed + wasted
            wanted = above[:, level]
            known = (self.contact[:, level] >= 0).sum(axis=1)
            lacking = alive & (wanted >= 0) & (known < ENTRIES) & (checking | (known == 0))
            peers = np.flatnonzero(lacking)
            self._ask(peers, wanted[peers], level, network, key)
            messages += 2 * len(peers)
        return {"messages": messages, "failed": failed, "bytes": int(self.bytes.sum())}

    def _check(
        self, peers: Integers, level: int, place: int, network: Network, key: np.uint64
    ) -> tuple[int, int]:
        """Probe contacts, repeatedly while there is no answer."""
        contact = self.contact[peers, level, place]
        number = 1 + 3 * (level * ENTRIES + place)
        asked, replied = (draws(key, peers, number + k) / 2.0**64 for k in range(2))
        there = (network.alive[contact] == 1) & (network.group[contact] == network.group[peers])
        heard = there & (asked >= network.loss**TRIES)
        answered = heard & (replied >= network.loss**TRIES)
        copies = np.where(there, _copies(asked, network.loss), TRIES)
        answers = np.where(heard, _copies(replied, network.loss), 0)
        for payers, count in ((peers, copies), (contact, answers)):
            np.add.at(self.sent, payers, count)
            np.add.at(self.bytes, payers, HEADER * count)
        self.contact[peers[~answered], level, place] = -1
        return int(copies.sum() + answers.sum()), int((copies + answers).sum() - 2 * answered.sum())

    def _ask(self, peers: Integers, topics: Integers, level: int, network: Network, key: np.uint64) -> None:
        """Let the rendezvous name contacts for all free places."""
        for place in range(ENTRIES):
            bits = draws(np.uint64(peer_key(key, -1 - level)), peers, place)
            named = self.groups.name(topics, peers, network.alive, bits)
            held = (self.contact[peers, level] == named[:, None]).any(axis=1)
            free = (self.contact[peers, level, place] < 0) & (named >= 0) & ~held
            self.contact[peers[free], level, place] = named[free]
        self.sent[peers] += 2
        self.bytes[peers] += 2 * HEADER + NAME + ENTRIES * LINK

    def join(self, peers: Integers, contacts: Integers, cycle: int) -> None:
        """Drop all contacts."""
        self.contact[peers] = -1

    def links(self) -> LinkTable:
        """The contacts."""
        return table_links(self.contact)

    def spent(self) -> tuple[Integers, Integers]:
        """Messages and bytes of the last cycle, by peer."""
        return self.sent, self.bytes


def _copies(share: NDArray[np.float64], loss: float) -> Integers:
    """How often a message is sent until a copy arrives, at most `TRIES` times, by a share drawn for it."""
    return np.asarray(1 + sum((share < loss**again).astype(np.int64) for again in range(1, TRIES)))
