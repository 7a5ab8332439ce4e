"""The layer that keeps CAMCAST's tables on the rings' overlay: topic tables and super-topic tables.

CAMCAST, Section 3.2, on the links of Sub-2-Sub, Section 4: a topic is a range, so a peer with the same range
is a member of one's community, and one with the tightest enclosing range a member of the super-community.
Every cycle a peer

1. drops entries that nobody has heard from for long;
2. takes up what its other links (random, proximity, points, ring) have to offer: that costs nothing;
3. exchanges tables with the equal it has heard from least recently, and forgets it if it is silent;
4. asks the super-topic entry it has heard from least recently, once that is suspect, for its like.

Neither paper has this layer. CAMCAST leaves the upkeep of topic tables to a membership service and keeps
super-topic tables by asking their entries (Figure 6), as step 4 does; Sub-2-Sub has no tables. No peer is
told the tree of topics: all it uses are the ranges in the descriptors that it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.shared.points import Points
from hierarchy.shared.rules import (
    ANSWER,
    ASK,
    GREETINGS,
    OTHERS,
    REPLY,
    REQUEST,
    STREAM,
    World,
    entries,
    expire,
    oldest_entry,
    oldest_neighbour,
    remove,
    take_up,
)
from hierarchy.shared.settings import TableSettings
from sub2sub.cyclon.layer import Cyclon
from sub2sub.kernels.compilation import apart, hot, rule
from sub2sub.kernels.randomness import cycle_key, draw, peer_key
from sub2sub.overlay.network import Faults, Network, attempts, reaches
from sub2sub.overlay.population import Population
from sub2sub.overlay.sizes import DESCRIPTOR, HEADER, RANGE
from sub2sub.overlay.views import FREE, link, peer_of, sample, stamp_of, view_links
from sub2sub.ring.layer import Ring
from sub2sub.ring.pool import PEER, STAMP, get, size_of
from sub2sub.ring.tombstones import TOMBSTONES, bury
from sub2sub.vicinity.layer import Vicinity

__all__ = ["NestedTables"]

MESSAGES, FAILED, SAME, OTHER, ASKED, GREETED = range(6)  # what is counted; links of equals and of others


class StepSettings(NamedTuple):
    """The settings as numbers, and what follows from them in one cycle."""

    neighbours: int
    oldest_allowed: int  # least stamp to keep or take up
    suspect: int  # entries not heard from since are asked
    cycle: int


class Net(NamedTuple):
    """How messages travel: faults, how often each is sent, and the key of the draws for greetings."""

    faults: Faults
    tries: int
    greetings: np.uint64


class Feeds(NamedTuple):
    """The links of the other layers: random, proximity and points, and the pool of ring views."""

    random: NDArray[np.int64]
    near: NDArray[np.int64]
    points: NDArray[np.int64]
    ring: Any


@rule
def _send(net, a, b, bits, counts):
    """Send a message until it arrives, as often as allowed; whether it did."""
    copies, in_vain = np.int64(net.tries), True
    if reaches(net.faults.alive, net.faults.group, a, b):
        copies, in_vain = attempts(bits, net.faults.loss, net.tries)
    counts[MESSAGES] += copies
    counts[FAILED] += in_vain
    return not in_vain


@rule
def _forget(world, i, j, cycle):
    """Let i forget a peer that was silent."""
    remove(world.equals[i], j)
    remove(world.above[i], j)
    bury(world, i, j, cycle)


@apart
def _hear(world, i, word, settings, net, counts):
    """Let i hear of a peer from others; it greets one that becomes its neighbour, and forgets a silent one."""
    if not take_up(world, i, word, settings, False):
        return
    j = peer_of(word)
    draws = peer_key(peer_key(net.greetings, i), j)
    counts[GREETED] += 1
    if not _send(net, i, j, draw(draws, 0), counts):
        _forget(world, i, j, settings.cycle)
        return
    take_up(world, j, link(i, settings.cycle), settings, True)
    if _send(net, j, i, draw(draws, 1), counts):
        take_up(world, i, link(j, settings.cycle), settings, True)
    else:
        _forget(world, i, j, settings.cycle)


@rule
def _hear_all(world, i, row, settings, net, counts):
    for place in range(row.shape[0]):
        if row[place] == FREE:
            break
        _hear(world, i, row[place], settings, net, counts)


@rule
def _feed(world, i, feeds, settings, net, counts):
    """Offer peer i all its links."""
    _hear_all(world, i, feeds.random[i], settings, net, counts)
    _hear_all(world, i, feeds.near[i], settings, net, counts)
    _hear_all(world, i, feeds.points[i], settings, net, counts)
    for place in range(size_of(feeds.ring, i)):
        word = link(get(feeds.ring, i, PEER, place), get(feeds.ring, i, STAMP, place))
        _hear(world, i, word, settings, net, counts)


@rule
def _copy(row, out):
    for place in range(row.shape[0]):
        out[place] = row[place]


@rule
def _exchange(world, i, settings, net, draws, scratch, counts):
    """Exchange tables with an equal: the one heard from least recently, in turns among the neighbours."""
    cycle, n = settings.cycle, world.equals.shape[0]
    size = entries(world.equals[i])
    if size == 0:
        return
    place = oldest_entry(world.equals[i], size)
    if (cycle + i) % 2 == 1:
        place = oldest_neighbour(world.equals[i], size, i, n, settings.neighbours)
    j = peer_of(world.equals[i, place])
    mine, my_above, his, his_above = scratch
    _copy(world.equals[i], mine)
    _copy(world.above[i], my_above)
    counts[SAME] += size
    counts[OTHER] += entries(my_above)
    if not _send(net, i, j, draw(draws, REQUEST), counts):
        _forget(world, i, j, cycle)
        return
    _copy(world.equals[j], his)
    _copy(world.above[j], his_above)
    counts[SAME] += entries(his)
    counts[OTHER] += entries(his_above)
    take_up(world, j, link(i, cycle), settings, True)
    _hear_all(world, j, mine, settings, net, counts)
    _hear_all(world, j, my_above, settings, net, counts)
    if not _send(net, j, i, draw(draws, REPLY), counts):
        _forget(world, i, j, cycle)
        return
    take_up(world, i, link(j, cycle), settings, True)
    _hear_all(world, i, his, settings, net, counts)
    _hear_all(world, i, his_above, settings, net, counts)


@rule
def _ask_above(world, i, settings, net, draws, counts):
    """Ask the super-topic entry heard from least recently, if it is suspect, for others of its community."""
    size = entries(world.above[i])
    if size == 0:
        return
    oldest = world.above[i, oldest_entry(world.above[i], size)]
    if stamp_of(oldest) >= settings.suspect:
        return
    j = peer_of(oldest)
    counts[ASKED] += 1
    arrived = _send(net, i, j, draw(draws, ASK), counts)
    if not arrived or not _send(net, j, i, draw(draws, ANSWER), counts):
        _forget(world, i, j, settings.cycle)
        return
    take_up(world, i, link(j, settings.cycle), settings, True)
    known = entries(world.equals[j])
    told = min(known, world.above.shape[1])
    counts[SAME] += told
    chosen = sample(known, told, draws, OTHERS)
    for place in range(known):
        if (chosen >> place) & 1:
            _hear(world, i, world.equals[j, place], settings, net, counts)


@hot
def _step(world, feeds, settings, net, key, scratch, counts):
    for i in range(world.equals.shape[0]):
        if net.faults.alive[i] == 0 or world.topical[i] == 0:
            continue
        draws = peer_key(key, i)
        expire(world.equals[i], settings.oldest_allowed)
        expire(world.above[i], settings.oldest_allowed)
        _feed(world, i, feeds, settings, net, counts)
        _exchange(world, i, settings, net, draws, scratch, counts)
        _ask_above(world, i, settings, net, draws, counts)


class NestedTables:
    """The tables of a population.

    Parameters
    ----------
    population : Population
    topical : (n,) uint8
        1 for peers whose subscription is a topic's; read anew in every cycle.
    cyclon, vicinity, points, ring
        The layers whose links feed this one; stepped by the engine, before it.
    settings : TableSettings
    seed : int

    Attributes
    ----------
    equals, above : (n, equals), (n, z) int64
        Topic tables and super-topic tables: links (see `sub2sub.overlay.views`), packed to the left.
    """

    name = "tables"

    def __init__(
        self,
        population: Population,
        topical: NDArray[np.uint8],
        cyclon: Cyclon,
        vicinity: Vicinity,
        points: Points,
        ring: Ring,
        settings: TableSettings | None = None,
        seed: int = 0,
    ) -> None:
        self.population, self.topical, self.seed = population, topical, seed
        self.settings = settings or TableSettings()
        self.below = cyclon, vicinity, points, ring
        n = len(population)
        self.equals = np.full((n, self.settings.equals), FREE)
        self.above = np.full((n, self.settings.z), FREE)
        self.buried = np.full((n, TOMBSTONES), -1, np.int32)
        self.buried_at = np.zeros((n, TOMBSTONES), np.int32)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer keep its tables."""
        given, people = self.settings, self.population
        settings = StepSettings(
            given.neighbours, cycle - given.max_age if given.max_age else 0,
            cycle - given.suspect_age if given.suspect_age else -1, cycle,
        )  # fmt: skip
        cyclon, vicinity, points, ring = self.below
        feeds = Feeds(cyclon.view, vicinity.view, points.view, ring.pool)
        world = World(people.boxes, self.topical, self.equals, self.above, self.buried, self.buried_at)
        net = Net(network.faults(), given.tries, cycle_key(self.seed, GREETINGS, cycle))
        rows = (np.empty(room, np.int64) for room in (given.equals, given.z, given.equals, given.z))
        counts, key = np.zeros(6, np.int64), cycle_key(self.seed, STREAM, cycle)
        _step(world, feeds, settings, net, key, tuple(rows), counts)
        messages, failed, same, other, asked, greeted = (int(count) for count in counts)
        # A message says once which range its sender has; of those with another range it says it each time.
        size = (HEADER + DESCRIPTOR + RANGE * people.d) * messages + DESCRIPTOR * same
        size += (DESCRIPTOR + RANGE * people.d) * other
        return {"messages": messages, "failed": failed, "bytes": size, "asked": asked, "greeted": greeted}

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the tables of `peers`; the first entries come from the other layers."""
        self.equals[peers], self.above[peers] = FREE, FREE
        self.buried[peers] = -1

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All entries of both tables as (holders, peers, stamps)."""
        return view_links(np.concatenate([self.equals, self.above], axis=1))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        return {
            "equals": self.equals, "above": self.above, "buried": self.buried, "buried_at": self.buried_at,
        }  # fmt: skip

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
