"""The turn of a peer of the shared overlay, compiled: it hears of peers, asks, and exchanges tables.

Read `hierarchy.peers.tables` first: it does the same for one peer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.shared.rules import (
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
from hierarchy.peers.tables import ASKS, DRAWS, EAGER, EXCHANGES, HASTE, SEARCHES
from sub2sub.compiled.common.network import Faults, sends
from sub2sub.compiled.common.randomness import draw, peer_key
from sub2sub.compiled.common.views import FREE, link, peer_of, sample, stamp_of
from sub2sub.compiled.machinery.compilation import apart, hot, rule
from sub2sub.compiled.ring_views.pool import PEER, STAMP, get, size_of
from sub2sub.compiled.ring_views.tombstones import set_tombstone

MESSAGES, FAILED, SAME, OTHER, ASKED, GREETED = range(6)  # counts of a sender; links to equals, to others


class StepSettings(NamedTuple):
    """The settings as numbers, and the values for one cycle."""

    neighbours: int
    oldest_allowed: int  # least stamp to keep or accept
    suspect: int  # entries with a smaller stamp are asked whether they are there
    patience: int
    cycle: int


class Net(NamedTuple):
    """The network: faults, copies of a message at most, and the key of the draws for greetings."""

    faults: Faults
    tries: int
    greetings: np.uint64


class TableContents(NamedTuple):
    """The contents of a message of an exchange: a copy of all tables of its sender."""

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
    """Send a message, again while it is lost, as often as allowed; return whether it arrived.

    It names `same` peers with the sender's range, and `other` peers with other ranges.
    """
    copies, undelivered = sends(net.faults, a, b, bits, net.tries)
    counts[a, MESSAGES] += copies
    counts[a, FAILED] += undelivered
    counts[a, SAME] += copies * same
    counts[a, OTHER] += copies * other
    return not undelivered


@rule
def _forget(state, i, j, cycle):
    """Let i forget a peer that did not answer."""
    remove(state.equals[i], j)
    remove(state.above[i], j)
    remove(state.below[i], j)
    set_tombstone(state, i, j, cycle)


@apart
def _hear(state, i, word, settings, net, counts):
    """Offer i a link that it received; i greets a new neighbour, and forgets it if it does not answer."""
    if not accept(state, i, word, settings, False):
        return
    j = peer_of(word)
    draws = peer_key(peer_key(net.greetings, i), j)
    counts[i, GREETED] += 1
    if not _send(net, i, j, draw(draws, 0), 0, 0, counts):
        _forget(state, i, j, settings.cycle)
        return
    accept(state, j, link(i, settings.cycle), settings, True)
    if _send(net, j, i, draw(draws, 1), 0, 0, counts):
        accept(state, i, link(j, settings.cycle), settings, True)
    else:
        _forget(state, i, j, settings.cycle)


@rule
def _hear_all(state, i, row, settings, net, counts):
    for place in range(row.shape[0]):
        if row[place] == FREE:
            break
        _hear(state, i, row[place], settings, net, counts)


@rule
def _feed(state, i, feeds, settings, net, counts):
    """Offer peer i all its links."""
    _hear_all(state, i, feeds.random[i], settings, net, counts)
    _hear_all(state, i, feeds.near[i], settings, net, counts)
    _hear_all(state, i, feeds.points[i], settings, net, counts)
    for place in range(size_of(feeds.ring, i)):
        word = link(get(feeds.ring, i, PEER, place), get(feeds.ring, i, STAMP, place))
        _hear(state, i, word, settings, net, counts)


@rule
def _copy(row, out):
    for place in range(row.shape[0]):
        out[place] = row[place]
    return entries(row)


@rule
def _copy_tables(state, i, out):
    """Copy the tables of i; return the number of equals and of others."""
    same = _copy(state.equals[i], out.equals)
    above = _copy(state.above[i], out.above)
    return same, above + _copy(state.below[i], out.below)


@rule
def _hear_tables(state, i, told, settings, net, counts):
    _hear_all(state, i, told.equals, settings, net, counts)
    _hear_all(state, i, told.above, settings, net, counts)
    _hear_all(state, i, told.below, settings, net, counts)


@rule
def _exchange(state, i, j, settings, net, draws, first, scratch, counts):
    """Exchange tables with an equal."""
    cycle = settings.cycle
    own_copy, partner_copy = scratch
    same, other = _copy_tables(state, i, own_copy)
    if not _send(net, i, j, draw(draws, first), same, other, counts):
        _forget(state, i, j, cycle)
        return
    same, other = _copy_tables(state, j, partner_copy)
    accept(state, j, link(i, cycle), settings, True)
    _hear_tables(state, j, own_copy, settings, net, counts)
    if not _send(net, j, i, draw(draws, first + 1), same, other, counts):
        _forget(state, i, j, cycle)
        return
    accept(state, i, link(j, cycle), settings, True)
    _hear_tables(state, i, partner_copy, settings, net, counts)


@rule
def _exchange_with_nearest(state, i, settings, net, draws, scratch, counts):
    """Exchange tables with the nearest successor until it stays the same, then with the predecessor."""
    n, done = state.equals.shape[0], 0
    for side in range(2):
        before = np.int64(-1)
        while done < EXCHANGES:
            size = entries(state.equals[i])
            if size == 0:
                return
            j = peer_of(state.equals[i, nearest(state.equals[i], size, i, n, side)])
            if j == before:
                break
            before = j
            _exchange(state, i, j, settings, net, draws, 2 * done, scratch, counts)
            done += 1


@rule
def _exchange_tables(state, i, settings, net, draws, scratch, counts):
    """Exchange tables with equals: newcomers with the nearest, others with the oldest entry.

    That is the oldest of all equals and the oldest of the neighbours in alternate cycles.
    """
    cycle, n = settings.cycle, state.equals.shape[0]
    if cycle - state.since[i] < HASTE:
        _exchange_with_nearest(state, i, settings, net, draws, scratch, counts)
        return
    size = entries(state.equals[i])
    if size == 0:
        return
    place = oldest_entry(state.equals[i], size)
    if (cycle + i) % 2 == 1:
        place = oldest_neighbour(state.equals[i], size, i, n, settings.neighbours)
    j = peer_of(state.equals[i, place])
    _exchange(state, i, j, settings, net, draws, 0, scratch, counts)


@rule
def _ways(state, table, i):
    """The number of entries of a table that lead to i's topic: their ranges equal or enclose that of i."""
    ways = 0
    for place in range(entries(table)):
        peer = peer_of(table[place])
        ways += peer != i and encloses(state.boxes, peer, i)
    return ways


@rule
def _hear_ways(state, i, table, settings, net, counts):
    """Offer i the entries of a table that lead to its topic."""
    for place in range(entries(table)):
        word = table[place]
        if peer_of(word) != i and encloses(state.boxes, peer_of(word), i):
            _hear(state, i, word, settings, net, counts)


@rule
def _ring_ways(state, ring, j, i):
    """The ring neighbours of j that lead to i's topic: those with the range of j, and the others."""
    same, other = np.int64(0), np.int64(0)
    for place in range(size_of(ring, j)):
        peer = get(ring, j, PEER, place)
        if peer != i and state.topical[peer] == 1 and encloses(state.boxes, peer, i):
            is_same = encloses(state.boxes, j, peer) and encloses(state.boxes, peer, j)
            same, other = same + is_same, other + (not is_same)
    return same, other


@rule
def _hear_ring_ways(state, ring, i, j, settings, net, counts):
    """Offer i the ring neighbours of j that lead to its topic."""
    for place in range(size_of(ring, j)):
        peer = get(ring, j, PEER, place)
        if peer != i and state.topical[peer] == 1 and encloses(state.boxes, peer, i):
            _hear(state, i, link(peer, get(ring, j, STAMP, place)), settings, net, counts)


@rule
def _ask(state, i, j, ring, settings, net, draws, step, counts):
    """Ask a peer with an enclosing or enclosed range for some equals, and for ways to the topic of i."""
    first = ASKS + step * DRAWS
    counts[i, ASKED] += 1
    if not _send(net, i, j, draw(draws, first), 0, 0, counts):
        _forget(state, i, j, settings.cycle)
        return
    known = entries(state.equals[j])
    told = min(known, state.above.shape[1])
    ways = _ways(state, state.below[j], i) + _ways(state, state.above[j], i)
    same, other = _ring_ways(state, ring, j, i)
    if _send(net, j, i, draw(draws, first + 1), told + same, ways + other, counts):
        accept(state, i, link(j, settings.cycle), settings, True)
        chosen = sample(known, told, draws, first + 2)
        for place in range(known):
            if (chosen >> place) & 1:
                _hear(state, i, state.equals[j, place], settings, net, counts)
        _hear_ways(state, i, state.below[j], settings, net, counts)
        _hear_ways(state, i, state.above[j], settings, net, counts)
        _hear_ring_ways(state, ring, i, j, settings, net, counts)
    else:
        _forget(state, i, j, settings.cycle)
    # After the answer: in the directory of j, i would replace the peer that leads to i's topic.
    accept(state, j, link(i, settings.cycle), settings, True)


@rule
def _is_asked(asked, count, peer):
    found = False
    for k in range(count):
        found |= asked[k] == peer
    return found


@rule
def _freshest_below(state, i, asked, count):
    """The freshest entry of the directory that was not asked; -1 for none."""
    best = np.int64(-1)
    for place in range(entries(state.below[i])):
        word = state.below[i, place]
        if not _is_asked(asked, count, peer_of(word)):
            best = max(best, word)
    return peer_of(best) if best >= 0 else np.int64(-1)


@rule
def _tightest(state, i, asked, count):
    """The tightest super-topic entry that was not asked, the freshest of equals; -1 for none."""
    best, least = np.int64(-1), np.inf
    for place in range(entries(state.above[i])):
        word = state.above[i, place]
        loose = looseness(state.boxes, i, peer_of(word))
        is_better = best < 0 or loose < least or (loose == least and word > best)
        if is_better and not _is_asked(asked, count, peer_of(word)):
            best, least = word, loose
    return peer_of(best) if best >= 0 else np.int64(-1)


@rule
def _search(state, i, ring, settings, net, draws, asked, counts):
    """Ask the tightest enclosing peer, then tighter ones that it names, until an equal is known.

    If no enclosing peer is left, peers of subtopics are asked.
    """
    for step in range(asked.shape[0]):
        j = _tightest(state, i, asked, step)
        if j < 0:
            j = _freshest_below(state, i, asked, step)
        if j < 0:
            return
        asked[step] = j
        _ask(state, i, j, ring, settings, net, draws, step, counts)
        if state.equals[i, 0] != FREE:
            return


@rule
def _look_above(state, i, ring, settings, net, draws, asked, counts):
    """Search if that is due; otherwise ask the oldest super-topic entry, if it is suspect."""
    cycle, alone, patience = settings.cycle, state.equals[i, 0] == FREE, settings.patience
    if 2 * entries(state.equals[i]) < state.equals.shape[1]:
        patience = max(patience // SEARCHES, 1)
    if (alone and cycle - state.since[i] <= EAGER) or (cycle + i) % patience == 0:
        _search(state, i, ring, settings, net, draws, asked, counts)
        return
    size = entries(state.above[i])
    if size > 0:
        oldest = state.above[i, oldest_entry(state.above[i], size)]
        if stamp_of(oldest) < settings.suspect:
            _ask(state, i, peer_of(oldest), ring, settings, net, draws, 0, counts)


@hot
def keep_tables(state, feeds, settings, net, key, scratch, counts):
    """Let every live peer that subscribes to a topic take its turn."""
    own_copy, partner_copy, asked = scratch
    for i in range(state.equals.shape[0]):
        if net.faults.alive[i] == 0 or state.topical[i] == 0:
            continue
        draws = peer_key(key, i)
        expire(state.equals[i], settings.oldest_allowed)
        expire(state.above[i], settings.oldest_allowed)
        expire(state.below[i], settings.oldest_allowed)
        _feed(state, i, feeds, settings, net, counts)
        _look_above(state, i, feeds.ring, settings, net, draws, asked, counts)
        _exchange_tables(state, i, settings, net, draws, (own_copy, partner_copy), counts)
