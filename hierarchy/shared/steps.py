"""What a peer of the shared overlay does in its turn, compiled: hear, ask, exchange.

`hierarchy.shared.peer` says the same for one peer, to be read first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.shared.rules import (
    ASKS,
    DRAWS,
    EAGER,
    EXCHANGES,
    HASTE,
    SEARCHES,
    accept,
    encloses,
    entries,
    expire,
    looseness,
    nearest,
    oldest_entry,
    oldest_neighbour,
    remove,
)
from sub2sub.kernels.compilation import apart, hot, rule
from sub2sub.kernels.randomness import draw, peer_key
from sub2sub.overlay.network import Faults, sends
from sub2sub.overlay.views import FREE, link, peer_of, sample, stamp_of
from sub2sub.ring.pool import PEER, STAMP, get, size_of
from sub2sub.ring.tombstones import bury

MESSAGES, FAILED, SAME, OTHER, ASKED, GREETED = range(6)  # counted by sender; links of equals and of others


class StepSettings(NamedTuple):
    """The settings as numbers, and what follows from them in one cycle."""

    neighbours: int
    oldest_allowed: int  # least stamp to keep or accept
    suspect: int  # entries not heard from since are asked
    patience: int
    cycle: int


class Net(NamedTuple):
    """How messages travel: faults, how often each is sent, and the key of the draws for greetings."""

    faults: Faults
    tries: int
    greetings: np.uint64


class TableContents(NamedTuple):
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

    It names `same` peers with the sender's range, and `other` peers with other ranges.
    """
    copies, undelivered = sends(net.faults, a, b, bits, net.tries)
    counts[a, MESSAGES] += copies
    counts[a, FAILED] += undelivered
    counts[a, SAME] += copies * same
    counts[a, OTHER] += copies * other
    return not undelivered


@rule
def _forget(world, i, j, cycle):
    """Let i forget a peer that was silent."""
    remove(world.equals[i], j)
    remove(world.above[i], j)
    remove(world.below[i], j)
    bury(world, i, j, cycle)


@apart
def _hear(world, i, word, settings, net, counts):
    """Let i hear of a peer from others; greet a new neighbour, and forget it if it does not answer."""
    if not accept(world, i, word, settings, False):
        return
    j = peer_of(word)
    draws = peer_key(peer_key(net.greetings, i), j)
    counts[i, GREETED] += 1
    if not _send(net, i, j, draw(draws, 0), 0, 0, counts):
        _forget(world, i, j, settings.cycle)
        return
    accept(world, j, link(i, settings.cycle), settings, True)
    if _send(net, j, i, draw(draws, 1), 0, 0, counts):
        accept(world, i, link(j, settings.cycle), settings, True)
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
def _exchange(world, i, j, settings, net, draws, first, scratch, counts):
    """Exchange tables with an equal."""
    cycle = settings.cycle
    mine, his = scratch
    same, other = _copy_tables(world, i, mine)
    if not _send(net, i, j, draw(draws, first), same, other, counts):
        _forget(world, i, j, cycle)
        return
    same, other = _copy_tables(world, j, his)
    accept(world, j, link(i, cycle), settings, True)
    _hear_tables(world, j, mine, settings, net, counts)
    if not _send(net, j, i, draw(draws, first + 1), same, other, counts):
        _forget(world, i, j, cycle)
        return
    accept(world, i, link(j, cycle), settings, True)
    _hear_tables(world, i, his, settings, net, counts)


@rule
def _exchange_with_nearest(world, i, settings, net, draws, scratch, counts):
    """Exchange tables with the nearest successor, then the nearest predecessor, until these stay the same."""
    n, done = world.equals.shape[0], 0
    for side in range(2):
        before = np.int64(-1)
        while done < EXCHANGES:
            size = entries(world.equals[i])
            if size == 0:
                return
            j = peer_of(world.equals[i, nearest(world.equals[i], size, i, n, side)])
            if j == before:
                break
            before = j
            _exchange(world, i, j, settings, net, draws, 2 * done, scratch, counts)
            done += 1


@rule
def _exchange_tables(world, i, settings, net, draws, scratch, counts):
    """Exchange tables with equals: newcomers with the nearest, others with the one heard from least
    recently, of all equals and of the neighbours in alternate cycles.
    """
    cycle, n = settings.cycle, world.equals.shape[0]
    if cycle - world.since[i] < HASTE:
        _exchange_with_nearest(world, i, settings, net, draws, scratch, counts)
        return
    size = entries(world.equals[i])
    if size == 0:
        return
    place = oldest_entry(world.equals[i], size)
    if (cycle + i) % 2 == 1:
        place = oldest_neighbour(world.equals[i], size, i, n, settings.neighbours)
    j = peer_of(world.equals[i, place])
    _exchange(world, i, j, settings, net, draws, 0, scratch, counts)


@rule
def _ways(world, table, i):
    """How many entries of a table have a range that is that of i, or encloses it."""
    ways = 0
    for place in range(entries(table)):
        peer = peer_of(table[place])
        ways += peer != i and encloses(world.boxes, peer, i)
    return ways


@rule
def _hear_ways(world, i, table, settings, net, counts):
    """Let i hear of those."""
    for place in range(entries(table)):
        word = table[place]
        if peer_of(word) != i and encloses(world.boxes, peer_of(word), i):
            _hear(world, i, word, settings, net, counts)


@rule
def _ask(world, i, j, settings, net, draws, step, counts):
    """Ask a peer with an enclosing or enclosed range for its community, and for ways to i's own topic."""
    first = ASKS + step * DRAWS
    counts[i, ASKED] += 1
    if not _send(net, i, j, draw(draws, first), 0, 0, counts):
        _forget(world, i, j, settings.cycle)
        return
    known = entries(world.equals[j])
    told = min(known, world.above.shape[1])
    ways = _ways(world, world.below[j], i) + _ways(world, world.above[j], i)
    if _send(net, j, i, draw(draws, first + 1), told, ways, counts):
        accept(world, i, link(j, settings.cycle), settings, True)
        chosen = sample(known, told, draws, first + 2)
        for place in range(known):
            if (chosen >> place) & 1:
                _hear(world, i, world.equals[j, place], settings, net, counts)
        _hear_ways(world, i, world.below[j], settings, net, counts)
        _hear_ways(world, i, world.above[j], settings, net, counts)
    else:
        _forget(world, i, j, settings.cycle)
    # Only now: in the directory of j, i would replace the peer that knows the way.
    accept(world, j, link(i, settings.cycle), settings, True)


@rule
def _freshest_below(world, i, asked, count):
    """The directory's entry that was heard from last, of those not asked."""
    best = np.int64(-1)
    for place in range(entries(world.below[i])):
        word, is_asked = world.below[i, place], False
        for k in range(count):
            is_asked |= asked[k] == peer_of(word)
        if not is_asked:
            best = max(best, word)
    return peer_of(best) if best >= 0 else np.int64(-1)


@rule
def _tightest(world, i, asked, count):
    """The tightest of the super-topic entries that were not asked, of equals the one heard from last."""
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
    """Ask the tightest enclosing peer known, and the tighter ones it names, until an equal is known.

    Where no enclosing ones are left, those below are asked.
    """
    for step in range(asked.shape[0]):
        j = _tightest(world, i, asked, step)
        if j < 0:
            j = _freshest_below(world, i, asked, step)
        if j < 0:
            return
        asked[step] = j
        _ask(world, i, j, settings, net, draws, step, counts)
        if world.equals[i, 0] != FREE:
            return


@rule
def _look_above(world, i, settings, net, draws, asked, counts):
    """Search where that is due; otherwise ask the super-topic entry heard from least recently, if suspect."""
    cycle, alone, patience = settings.cycle, world.equals[i, 0] == FREE, settings.patience
    if 2 * entries(world.equals[i]) < world.equals.shape[1]:
        patience = max(patience // SEARCHES, 1)
    if (alone and cycle - world.since[i] <= EAGER) or (cycle + i) % patience == 0:
        _search(world, i, settings, net, draws, asked, counts)
        return
    size = entries(world.above[i])
    if size > 0:
        oldest = world.above[i, oldest_entry(world.above[i], size)]
        if stamp_of(oldest) < settings.suspect:
            _ask(world, i, peer_of(oldest), settings, net, draws, 0, counts)


@hot
def keep_tables(world, feeds, settings, net, key, scratch, counts):
    """Let every live peer with a topic take its turn."""
    mine, his, asked = scratch
    for i in range(world.equals.shape[0]):
        if net.faults.alive[i] == 0 or world.topical[i] == 0:
            continue
        draws = peer_key(key, i)
        expire(world.equals[i], settings.oldest_allowed)
        expire(world.above[i], settings.oldest_allowed)
        expire(world.below[i], settings.oldest_allowed)
        _feed(world, i, feeds, settings, net, counts)
        _look_above(world, i, settings, net, draws, asked, counts)
        _exchange_tables(world, i, settings, net, draws, (mine, his), counts)
