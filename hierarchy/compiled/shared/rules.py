"""Rules for the tables of the shared overlay: how two ranges are related, and which entries to keep.

Read `hierarchy.peers.tables` first: it has the same rules for one peer. Rows are links as in
`sub2sub.compiled.common.views`, without gaps from the left; peers are numbered in the order of their sequence
IDs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.peers.tables import HASTE
from sub2sub.compiled.common.views import FREE, peer_of, stamp_of
from sub2sub.compiled.machinery.compilation import apart, rule
from sub2sub.compiled.ring_views.tombstones import is_outdated

UNRELATED, EQUAL, ENCLOSING, ENCLOSED = range(4)


class TableState(NamedTuple):
    """The descriptors of peers, their tables, and their tombstones."""

    boxes: NDArray[np.float64]  # (n, 2, >= d) half-open
    topical: NDArray[np.uint8]  # (n,) 1 for a subscription to a topic
    equals: NDArray[np.int64]  # (n, equals) topic tables
    above: NDArray[np.int64]  # (n, z) super-topic tables
    below: NDArray[np.int64]  # (n, below) directories of subtopics
    silent: NDArray[np.int32]  # (n, TOMBSTONES), see `sub2sub.compiled.ring_views.tombstones`
    silent_at: NDArray[np.int32]
    since: NDArray[np.int64]  # (n,) when each joined


@rule
def encloses(boxes, i, j):
    """Whether the box of i encloses that of j."""
    for k in range(boxes.shape[2]):
        if boxes[i, 0, k] > boxes[j, 0, k] or boxes[j, 1, k] > boxes[i, 1, k]:
            return False
    return True


@rule
def relation(state, i, j):
    """Relation of the topic of j to that of i: equal, enclosing, enclosed, or unrelated."""
    if state.topical[i] == 0 or state.topical[j] == 0:
        return UNRELATED
    above, below = encloses(state.boxes, j, i), encloses(state.boxes, i, j)
    if above and below:
        return EQUAL
    return ENCLOSING if above else ENCLOSED if below else UNRELATED


@rule
def looseness(boxes, i, j):
    """Squared distance of the points (low, high) of two boxes: the greater, the looser j encloses i."""
    total = 0.0
    for k in range(boxes.shape[2]):
        below, beyond = boxes[i, 0, k] - boxes[j, 0, k], boxes[j, 1, k] - boxes[i, 1, k]
        total += below * below + beyond * beyond
    return total


@rule
def entries(row):
    """The number of entries of a row."""
    count = 0
    while count < row.shape[0] and row[count] != FREE:
        count += 1
    return count


@rule
def place_in(row, size, peer):
    """Place of the entry for a peer, or -1."""
    for place in range(size):
        if peer_of(row[place]) == peer:
            return place
    return -1


@rule
def oldest_entry(row, size):
    """Place of the oldest entry; of equally old ones, that of the lowest ID."""
    oldest = 0
    for place in range(1, size):
        if row[place] < row[oldest]:
            oldest = place
    return oldest


@rule
def oldest_neighbour(row, size, holder, n, neighbours):
    """Place of the neighbour heard from least recently."""
    oldest = -1
    for place in range(size):
        if oldest < 0 or row[place] < row[oldest]:
            peer = peer_of(row[place])
            if is_neighbour(row, size, peer, peer, holder, n, neighbours):
                oldest = place
    return oldest


@rule
def nearest(row, size, holder, n, side):
    """Place of the nearest successor (side 0) or predecessor (side 1) in a row that is not empty."""
    best, least = 0, n
    for place in range(size):
        way = (peer_of(row[place]) - holder) % n if side == 0 else (holder - peer_of(row[place])) % n
        if way < least:
            best, least = place, way
    return best


@rule
def remove(row, peer):
    """Remove the entry for a peer, if there is one; the last entry takes its place."""
    size = entries(row)
    place = place_in(row, size, peer)
    if place >= 0:
        row[place] = row[size - 1]
        row[size - 1] = FREE


@rule
def expire(row, oldest_allowed):
    """Drop entries that are too old."""
    kept = 0
    for place in range(entries(row)):
        word = row[place]
        row[place] = FREE
        if stamp_of(word) >= oldest_allowed:
            row[kept] = word
            kept += 1


@rule
def is_neighbour(row, size, peer, extra, holder, n, neighbours):
    """Whether a peer is among the nearest, in either direction, of a row and the peer `extra`."""
    own, its = (peer - holder) % n, (extra - holder) % n
    nearer, farther = np.int64(its < own), np.int64(its > own)
    for place in range(size):
        way = (peer_of(row[place]) - holder) % n
        nearer += way < own
        farther += way > own
    return nearer < neighbours or farther < neighbours


@rule
def take_equal(row, holder, word, n, neighbours, direct):
    """Offer a new peer with the same range to a table; return whether it is a neighbour there.

    A full table accepts only neighbours, and the sender of a message (`direct`); they replace the oldest
    entry that is not a neighbour.
    """
    size, peer = entries(row), peer_of(word)
    near = is_neighbour(row, size, peer, peer, holder, n, neighbours)
    if size < row.shape[0]:
        row[size] = word
        return near
    if near or direct:
        oldest = -1
        for place in range(size):
            if (oldest < 0 or row[place] < row[oldest]) and not is_neighbour(
                row, size, peer_of(row[place]), peer, holder, n, neighbours
            ):
                oldest = place
        row[oldest] = word
    return near


@rule
def take_above(row, boxes, holder, word):
    """Offer a new peer with an enclosing range to a table, where it may replace a looser or older entry."""
    size = entries(row)
    if size < row.shape[0]:
        row[size] = word
        return
    worst, loosest = 0, -1.0
    for place in range(size):
        loose = looseness(boxes, holder, peer_of(row[place]))
        if loose > loosest or (loose == loosest and stamp_of(row[place]) < stamp_of(row[worst])):
            worst, loosest = place, loose
    loose = looseness(boxes, holder, peer_of(word))
    if loose < loosest or (loose == loosest and stamp_of(word) > stamp_of(row[worst])):
        row[worst] = word


@rule
def take_below(row, boxes, holder, word):
    """Offer a new peer with an enclosed range to a directory: one entry per range, no range within another.

    If there are too many ranges, the oldest entry is removed. Returns whether the range is new there.
    """
    j, kept = peer_of(word), 0
    for place in range(entries(row)):
        other = row[place]
        if encloses(boxes, peer_of(other), j):
            if stamp_of(word) > stamp_of(other) and encloses(boxes, j, peer_of(other)):
                row[place] = word
            return False  # no entry was removed before: ranges in a directory do not enclose one another
        row[place] = FREE
        if not encloses(boxes, j, peer_of(other)):
            row[kept] = other
            kept += 1
    if kept < row.shape[0]:
        row[kept] = word
        return True
    oldest = oldest_entry(row, kept)
    if stamp_of(word) > stamp_of(row[oldest]):
        row[oldest] = word
        return True
    return False


@apart
def accept(state, i, word, settings, direct):
    """Offer a link to peer i: renew its entry, or accept it; return whether i has to greet the peer.

    A peer greets new neighbours; a newcomer also greets the first peer of each subtopic.
    """
    j = peer_of(word)
    if j == i or stamp_of(word) < settings.oldest_allowed:
        return False
    kind = relation(state, i, j)
    if kind == UNRELATED:
        return False
    row = state.equals[i] if kind == EQUAL else state.above[i] if kind == ENCLOSING else state.below[i]
    place = place_in(row, entries(row), j)
    if place >= 0:
        row[place] = max(row[place], word)
    elif not is_outdated(state, i, j, stamp_of(word)):
        if kind == EQUAL:
            return take_equal(row, i, word, state.equals.shape[0], settings.neighbours, direct)
        if kind == ENCLOSING:
            take_above(row, state.boxes, i, word)
        else:
            return take_below(row, state.boxes, i, word) and settings.cycle - state.since[i] < HASTE
    return False
