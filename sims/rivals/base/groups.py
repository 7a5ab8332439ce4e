"""Groups of peers, one for each topic, and the rendezvous that names members of a group.

A subscriber is a member of the group of its topic. An event of a topic concerns that group and the groups of
all topics above; its publisher sends it to a few members of each (`Entries`). With membership
in the groups of all subtopics instead, a subscriber of the root would be a member of every group.

The rendezvous is outside the model, like `sub2sub.compiled.cyclon.rendezvous`: it names random live members
of a group and is always up; its questions and answers are billed. Every protocol in groups needs one to
start: a tracker, a DHT or a list of servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hierarchy.topics import NestedRanges
from sub2sub.compiled.common.layer import Layer, LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import draws, peer_key
from sub2sub.compiled.common.views import LinkTable, table_links
from sub2sub.overlay.population import Population
from sub2sub.overlay.stack import Stack
from sub2sub.peers.descriptors import HEADER, LINK, NAME
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("anchors/rendezvous")
ENTERED = stream_number("anchors/entries")
ENTRIES, CHECKS, TRIES = 3, 0.1, 3
Integers = NDArray[np.int64]


class Groups:
    """The group of each peer.

    Parameters
    ----------
    population : Population
    ranges : NestedRanges, optional
        The topics, if interests are topics; otherwise all peers are in one group.

    Attributes
    ----------
    of : (n,) int64
        The group of each peer, -1 for dormant ones.
    above : tuple of tuple of int
        The topics above each topic, the nearest first.

    Examples
    --------
    >>> population = Population.of([[0.0], [1.0], [2.0]], [[3.0], [3.0], [3.0]])
    >>> groups = Groups(population)
    >>> groups.of, groups.name(np.zeros(1, np.int64), np.array([1]), np.array([0, 1, 1]), np.uint64([7]))
    (array([0, 0, 0]), array([2]))
    """

    def __init__(self, population: Population, ranges: NestedRanges | None = None) -> None:
        self.population, self.ranges = population, ranges
        tree = ranges.tree if ranges is not None else None
        self.above: tuple[tuple[int, ...], ...] = (
            tuple(tuple(tree.supertopics(topic)) for topic in range(tree.capacity)) if tree else ((),)
        )
        self.of: Integers = np.empty(len(population), np.int64)
        self.refresh()

    def refresh(self) -> None:
        """Look up the groups of all peers."""
        if self.ranges is None:
            self.of[:] = np.where(self.population.present, 0, -1)
            return
        lows, highs = self.population.ranges()
        bounds = self.ranges.bounds()
        topic = {(low, high - 1): number for number, (low, high) in enumerate(bounds.tolist())}
        pairs = zip(lows[:, 0].tolist(), highs[:, 0].tolist(), strict=True)
        found = [topic.get((int(low), int(high)), -1) for low, high in pairs]
        self.of[:] = np.where(self.population.present, found, -1)

    def name(
        self, wanted: Integers, asking: Integers, alive: NDArray[np.uint8], bits: NDArray[np.uint64]
    ) -> Integers:
        """A random live member of each wanted group, other than the asking peer; -1 if there is none."""
        live = np.flatnonzero((alive == 1) & (self.of >= 0))
        live = live[np.argsort(self.of[live], kind="stable")]
        first, last = (np.searchsorted(self.of[live], wanted, side) for side in ("left", "right"))
        count = np.maximum(last - first, 1)
        place = (bits % count.astype(np.uint64)).astype(np.int64)
        if not live.size:
            return np.full(len(wanted), -1)
        found = live[np.minimum(first + place, live.size - 1)]
        following = live[np.minimum(first + (place + 1) % count, live.size - 1)]
        found = np.where(found == asking, following, found)
        return np.where((last > first) & (found != asking), found, -1)


@runtime_checkable
class Seeking(Protocol):
    """A layer whose peers may need a contact."""

    def seeking(self, cycle: int, alive: NDArray[np.uint8]) -> Sequence[int]:
        """Live peers that ask for a contact now."""

    def introduce(self, peer: int, contact: int) -> None:
        """Name a contact to a peer."""


class GroupStack(Stack):
    """A population in groups. Members start with a contact and may ask the rendezvous for others.

    With `within`, contacts are members of the same group; otherwise any peers, but for layers that have
    `within` themselves.
    """

    def __init__(
        self, population: Population, groups: Groups, layers: Sequence[Layer], seed: int, within: bool = True
    ) -> None:
        super().__init__(population, layers, seed)
        self.groups, self.within = groups, within
        self.asked, self._billed = np.zeros((2, len(population)), np.int64)

    def bootstrap(self, cycle: int = 0) -> None:
        """Let all peers join, each through a random earlier member of its group."""
        if not self.within:
            super().bootstrap(cycle)
            return
        peers = np.flatnonzero(self.network.alive)
        self.asked[peers] += 1
        super().admit(peers, first_contacts(peers, self.groups.of[peers], self.seed), cycle)

    def admit(self, peers: Integers, contacts: Integers, cycle: int) -> None:
        """Let peers (re)start; the rendezvous names a contact in the group of each."""
        self.groups.refresh()
        self.asked[peers] += 1
        if self.within:
            contacts = self._named(peers, draws(cycle_key(self.seed, STREAM, cycle), peers), self.within)
        super().admit(peers, contacts, cycle)

    def step(self, cycle: int) -> dict[str, Mapping[str, int]]:
        """Let peers without contacts ask for one, then step all layers."""
        for number, layer in enumerate(self.layers):
            if isinstance(layer, Seeking):
                self._name_contacts(layer, cycle, number)
        costs = super().step(cycle)
        self._billed, self.asked = self.asked, np.zeros_like(self.asked)
        messages, size = (int(spent.sum()) for spent in self.spent_asking())
        return {**costs, "rendezvous": {"messages": messages, "failed": 0, "bytes": size}}

    def spent_asking(self) -> tuple[Integers, Integers]:
        """Messages and bytes of the last cycle, by peer: those that ask are billed for the reply as well."""
        return 2 * self._billed, (2 * HEADER + NAME + LINK) * self._billed

    def _named(self, asking: Integers, bits: NDArray[np.uint64], within: bool) -> Integers:
        """Choose contacts: live peers of the same group, or any live peers."""
        if within:
            return self.groups.name(self.groups.of[asking], asking, self.network.alive, bits)
        live = np.flatnonzero(self.network.alive)
        if live.size < 2:
            return np.full(len(asking), -1)
        place = (bits % np.uint64(live.size)).astype(np.int64)
        found = live[place]
        return np.where(found == asking, live[(place + 1) % live.size], found)

    def _name_contacts(self, layer: Seeking, cycle: int, number: int) -> None:
        asking = np.array(layer.seeking(cycle, self.network.alive), np.int64)
        bits = draws(cycle_key(self.seed, STREAM, cycle), asking, 1 + number)
        named = self._named(asking, bits, getattr(layer, "within", self.within))
        self.asked[asking] += 1
        for peer, contact in zip(asking.tolist(), named.tolist(), strict=True):
            if contact >= 0:
                layer.introduce(peer, contact)


def first_contacts(peers: Integers, group: Integers, seed: int) -> Integers:
    """Contacts of peers that start together: a random earlier member of the group, or -1.

    Examples
    --------
    >>> first_contacts(np.array([3, 4, 5, 6]), np.array([0, 1, 1, 0]), seed=1).tolist()
    [6, 5, -1, -1]
    """
    key = cycle_key(seed, STREAM, 0)
    place = earlier_members(group, draws(key, peers, 8), draws(key, peers, 9))
    return np.where(place >= 0, peers[place], -1)


def earlier_members(group: Integers, marks: NDArray[np.uint64], bits: NDArray[np.uint64]) -> Integers:
    """For each member a random earlier one of its group, in the order of marks; -1 for the first.

    Examples
    --------
    >>> marks, bits = np.arange(4, dtype=np.uint64), np.zeros(4, np.uint64)
    >>> earlier_members(np.array([0, 1, 1, 0]), marks, bits).tolist()
    [-1, -1, 1, 0]
    """
    n = len(group)
    order = np.lexsort((marks, group))
    first = np.append(True, group[order][1:] != group[order][:-1])
    began = np.maximum.accumulate(np.where(first, np.arange(n), 0))
    before = np.arange(n) - began  # how many of its group come earlier
    chosen = began + (bits % np.maximum(before, 1).astype(np.uint64)).astype(np.int64)
    found = np.empty(n, np.int64)
    found[order] = np.where(first, -1, order[chosen])
    return found


class Entries(LayerBase):
    """Contacts in the groups of supertopics, to which publishers send their events.

    GossipSub calls them fan-out peers: members of a group to which a publisher outside the group sends. Every
    peer keeps `count` contacts in each group above its own. It probes them from time to time, drops those
    that do not answer, and asks the rendezvous for others.

    Attributes
    ----------
    contact : (n, levels, count) int32
        Members of the group of the level-th topic above each peer's own; -1 for none.
    """

    name, saved = "entries", ("contact",)

    def __init__(self, groups: Groups, seed: int, count: int = ENTRIES) -> None:
        self.groups, self.seed, self.count = groups, seed, count
        n, levels = len(groups.of), max(len(above) for above in groups.above)
        self.contact = np.full((n, levels, count), -1, np.int32)
        self._above = np.full((len(groups.above), levels), -1, np.int64)
        for topic, above in enumerate(groups.above):
            self._above[topic, : len(above)] = above
        self.sent, self.bytes = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let some members probe their contacts, and those with free places ask for others."""
        key = cycle_key(self.seed, ENTERED, cycle)
        self.sent[:], self.bytes[:] = 0, 0
        alive = (network.alive == 1) & (self.groups.of >= 0)
        bits = draws(key, np.arange(len(alive)))
        checking = alive & (bits < np.uint64(CHECKS * 2**64))
        above = np.where(self.groups.of[:, None] >= 0, self._above[self.groups.of], -1)
        messages = failed = 0
        for level in range(self.contact.shape[1]):
            for place in range(self.count):
                peers = np.flatnonzero(checking & (self.contact[:, level, place] >= 0))
                copies, wasted = self._check(peers, level, place, network, key)
                messages, failed = messages + copies, failed + wasted
            wanted = above[:, level]
            known = (self.contact[:, level] >= 0).sum(axis=1)
            lacking = alive & (wanted >= 0) & (known < self.count) & (checking | (known == 0))
            peers = np.flatnonzero(lacking)
            self._ask(peers, wanted[peers], level, network, key)
            messages += 2 * len(peers)
        return {"messages": messages, "failed": failed, "bytes": int(self.bytes.sum())}

    def _check(
        self, peers: Integers, level: int, place: int, network: Network, key: np.uint64
    ) -> tuple[int, int]:
        """Probe contacts, repeatedly while there is no answer."""
        contact = self.contact[peers, level, place]
        number = 1 + 3 * (level * self.count + place)
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
        for place in range(self.count):
            bits = draws(np.uint64(peer_key(key, -1 - level)), peers, place)
            named = self.groups.name(topics, peers, network.alive, bits)
            held = (self.contact[peers, level] == named[:, None]).any(axis=1)
            free = (self.contact[peers, level, place] < 0) & (named >= 0) & ~held
            self.contact[peers[free], level, place] = named[free]
        self.sent[peers] += 2
        self.bytes[peers] += 2 * HEADER + NAME + self.count * LINK

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
