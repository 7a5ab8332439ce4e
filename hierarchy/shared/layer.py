"""The layer that keeps CAMCAST's tables on the rings' overlay, for all peers at once.

CAMCAST, Section 3.2, on the links of Sub-2-Sub, Section 4: a topic is a range, so a peer with the same range
is a member of one's community, and one with the tightest enclosing range a member of the super-community.
`hierarchy.shared.peer` says what a peer does in a cycle; this is the same, compiled. Neither paper has this
layer: CAMCAST leaves topic tables to a membership service, and keeps super-topic tables by asking their
entries (Figure 6); Sub-2-Sub has no tables. No peer is told the tree of topics: all it uses are the ranges in
descriptors that it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.shared.points import Points
from hierarchy.shared.rules import (
    ASKS,
    DRAWS,
    EAGER,
    GREETINGS,
    REPLY,
    REQUEST,
    STEPS,
    STREAM,
    World,
    encloses,
    entries,
    expire,
    looseness,
    oldest_entry,
    oldest_neighbour,
    remove,
    take_up,
)
from hierarchy.shared.settings import TableSettings
from sub2sub.cyclon.layer import Cyclon
from sub2sub.kernels.compilation import apart, hot, rule
from sub2sub.kernels.randomness import cycle_key, draw, peer_key
from sub2sub.overlay.feed import Feed
from sub2sub.overlay.network import Faults, Network, attempts, reaches
from sub2sub.overlay.population import Population
from sub2sub.overlay.sizes import DESCRIPTOR, HEADER, RANGE
from sub2sub.overlay.views import FREE, link, peer_of, sample, stamp_of, view_links
from sub2sub.ring.layer import Ring
from sub2sub.ring.pool import PEER, STAMP, get, size_of
from sub2sub.ring.tombstones import TOMBSTONES, bury

__all__ = ["NestedTables"]

MESSAGES, FAILED, SAME, OTHER, ASKED, GREETED = range(6)  # what is counted; links of equals and of others


class StepSettings(NamedTuple):
    """The settings as numbers, and what follows from them in one cycle."""

    neighbours: int
    oldest_allowed: int  # least stamp to keep or take up
    suspect: int  # entries not heard from since are asked
    patience: int
    cycle: int


class Net(NamedTuple):
    """How messages travel: faults, how often each is sent, and the key of the draws for greetings."""

    faults: Faults
    tries: int
    greetings: np.uint64


class Told(NamedTuple):
    """What a message of an exchange holds: a copy of all tables of its sender."""

    equals: NDArray[np.int64]
    above: NDArray[np.int64]
    below: NDArray[np.int64]


class Feeds(NamedTuple):
    """The links of the other layers: random, proximity and points, and the pool of ring views."""

    random: NDArray[np.int64]
    near: NDArray[np.int64]
    points: NDArray[np.int64]
    ring: Any


@rule
def _send(net, a, b, bits, same, other, counts):
    """Send a message until it arrives, as often as allowed; whether it did.

    It names so many peers with the sender's range, and so many with others.
    """
    copies, in_vain = np.int64(net.tries), True
    if reaches(net.faults.alive, net.faults.group, a, b):
        copies, in_vain = attempts(bits, net.faults.loss, net.tries)
    counts[MESSAGES] += copies
    counts[FAILED] += in_vain
    counts[SAME] += copies * same
    counts[OTHER] += copies * other
    return not in_vain


@rule
def _forget(world, i, j, cycle):
    """Let i forget a peer that was silent."""
    remove(world.equals[i], j)
    remove(world.above[i], j)
    remove(world.below[i], j)
    bury(world, i, j, cycle)


@apart
def _hear(world, i, word, settings, net, counts):
    """Let i hear of a peer from others; a new neighbour is greeted, and forgotten if it is silent."""
    if not take_up(world, i, word, settings, False):
        return
    j = peer_of(word)
    draws = peer_key(peer_key(net.greetings, i), j)
    counts[GREETED] += 1
    if not _send(net, i, j, draw(draws, 0), 0, 0, counts):
        _forget(world, i, j, settings.cycle)
        return
    take_up(world, j, link(i, settings.cycle), settings, True)
    if _send(net, j, i, draw(draws, 1), 0, 0, counts):
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
    return entries(row)


@rule
def _copy_tables(world, i, out):
    """Write what i tells an equal, all it has; how many equals and how many others."""
    same = _copy(world.equals[i], out.equals)
    above = _copy(world.above[i], out.above)
    return same, above + _copy(world.below[i], out.below)


@rule
def _hear_tables(world, i, told, settings, net, counts):
    _hear_all(world, i, told.equals, settings, net, counts)
    _hear_all(world, i, told.above, settings, net, counts)
    _hear_all(world, i, told.below, settings, net, counts)


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
    mine, his = scratch
    same, other = _copy_tables(world, i, mine)
    if not _send(net, i, j, draw(draws, REQUEST), same, other, counts):
        _forget(world, i, j, cycle)
        return
    same, other = _copy_tables(world, j, his)
    take_up(world, j, link(i, cycle), settings, True)
    _hear_tables(world, j, mine, settings, net, counts)
    if not _send(net, j, i, draw(draws, REPLY), same, other, counts):
        _forget(world, i, j, cycle)
        return
    take_up(world, i, link(j, cycle), settings, True)
    _hear_tables(world, i, his, settings, net, counts)


@rule
def _ways_down(world, j, i):
    """How many entries of j's directory have a range that is that of i, or encloses it."""
    ways = 0
    for place in range(entries(world.below[j])):
        peer = peer_of(world.below[j, place])
        ways += peer != i and encloses(world.boxes, peer, i)
    return ways


@rule
def _ask(world, i, j, settings, net, draws, step, counts):
    """Ask a peer with an enclosing range for its community, and for the way down to i's own topic."""
    first = ASKS + step * DRAWS
    counts[ASKED] += 1
    if not _send(net, i, j, draw(draws, first), 0, 0, counts):
        _forget(world, i, j, settings.cycle)
        return
    take_up(world, j, link(i, settings.cycle), settings, True)
    known = entries(world.equals[j])
    told = min(known, world.above.shape[1])
    if not _send(net, j, i, draw(draws, first + 1), told, _ways_down(world, j, i), counts):
        _forget(world, i, j, settings.cycle)
        return
    take_up(world, i, link(j, settings.cycle), settings, True)
    chosen = sample(known, told, draws, first + 2)
    for place in range(known):
        if (chosen >> place) & 1:
            _hear(world, i, world.equals[j, place], settings, net, counts)
    for place in range(entries(world.below[j])):
        word = world.below[j, place]
        if peer_of(word) != i and encloses(world.boxes, peer_of(word), i):
            _hear(world, i, word, settings, net, counts)


@rule
def _tightest(world, i, asked, count):
    """Of the super-topic entries that were not asked the tightest, and of those the one heard from last."""
    best, least = np.int64(-1), np.inf
    for place in range(entries(world.above[i])):
        word, is_asked = world.above[i, place], False
        for k in range(count):
            is_asked |= asked[k] == peer_of(word)
        loose = looseness(world.boxes, i, peer_of(word))
        if not is_asked and (best < 0 or loose < least or (loose == least and word > best)):
            best, least = word, loose
    return peer_of(best) if best >= 0 else np.int64(-1)


@rule
def _search(world, i, settings, net, draws, asked, counts):
    """Ask the tightest enclosing peer known, and the tighter ones it names, until an equal is known."""
    for step in range(asked.shape[0]):
        j = _tightest(world, i, asked, step)
        if j < 0:
            return
        asked[step] = j
        _ask(world, i, j, settings, net, draws, step, counts)
        if world.equals[i, 0] != FREE:
            return


@rule
def _look_above(world, i, settings, net, draws, since, asked, counts):
    """Search where that is due; otherwise ask the super-topic entry heard from least recently, if suspect."""
    cycle, alone = settings.cycle, world.equals[i, 0] == FREE
    if (alone and cycle - since[i] <= EAGER) or (cycle + i) % settings.patience == 0:
        _search(world, i, settings, net, draws, asked, counts)
        return
    size = entries(world.above[i])
    if size > 0:
        oldest = world.above[i, oldest_entry(world.above[i], size)]
        if stamp_of(oldest) < settings.suspect:
            _ask(world, i, peer_of(oldest), settings, net, draws, 0, counts)


@hot
def _step(world, feeds, settings, net, key, since, scratch, counts):
    mine, his, asked = scratch
    for i in range(world.equals.shape[0]):
        if net.faults.alive[i] == 0 or world.topical[i] == 0:
            continue
        draws = peer_key(key, i)
        expire(world.equals[i], settings.oldest_allowed)
        expire(world.above[i], settings.oldest_allowed)
        expire(world.below[i], settings.oldest_allowed)
        _feed(world, i, feeds, settings, net, counts)
        _look_above(world, i, settings, net, draws, since, asked, counts)
        _exchange(world, i, settings, net, draws, (mine, his), counts)


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
        vicinity: Feed,
        points: Points,
        ring: Ring,
        settings: TableSettings | None = None,
        seed: int = 0,
    ) -> None:
        self.population, self.topical, self.seed = population, topical, seed
        self.settings = settings or TableSettings()
        self.feeding = cyclon, vicinity, points, ring
        n = len(population)
        self.equals = np.full((n, self.settings.equals), FREE)
        self.above = np.full((n, self.settings.z), FREE)
        self.below = np.full((n, self.settings.below), FREE)
        self.since = np.zeros(n, np.int64)
        self.buried = np.full((n, TOMBSTONES), -1, np.int32)
        self.buried_at = np.zeros((n, TOMBSTONES), np.int32)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Let every live peer keep its tables."""
        given, people = self.settings, self.population
        settings = StepSettings(
            given.neighbours, cycle - given.max_age if given.max_age else 0,
            cycle - given.suspect_age if given.suspect_age else -1, given.patience, cycle,
        )  # fmt: skip
        cyclon, vicinity, points, ring = self.feeding
        feeds = Feeds(cyclon.view, vicinity.view, points.view, ring.pool)
        world = World(
            people.boxes, self.topical, self.equals, self.above, self.below, self.buried, self.buried_at
        )
        net = Net(network.faults(), given.tries, cycle_key(self.seed, GREETINGS, cycle))
        rooms = given.equals, given.z, given.below
        mine, his = (Told(*(np.empty(room, np.int64) for room in rooms)) for _ in range(2))
        counts, key = np.zeros(6, np.int64), cycle_key(self.seed, STREAM, cycle)
        scratch = mine, his, np.empty(STEPS, np.int64)
        _step(world, feeds, settings, net, key, self.since, scratch, counts)
        messages, failed, same, other, asked, greeted = (int(count) for count in counts)
        # A message says once which range its sender has; of those with another range it says it each time.
        size = (HEADER + DESCRIPTOR + RANGE * people.d) * messages + DESCRIPTOR * same
        size += (DESCRIPTOR + RANGE * people.d) * other
        return {"messages": messages, "failed": failed, "bytes": size, "asked": asked, "greeted": greeted}

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the tables of `peers`; the first entries come from the other layers."""
        for table in (self.equals, self.above, self.below):
            table[peers] = FREE
        self.buried[peers], self.since[peers] = -1, cycle

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All entries of all tables as (holders, peers, stamps)."""
        return view_links(np.concatenate([self.equals, self.above, self.below], axis=1))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State for a checkpoint."""
        names = ("topical", "equals", "above", "below", "since", "buried", "buried_at")
        return {name: getattr(self, name) for name in names}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
