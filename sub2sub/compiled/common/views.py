"""Views of fixed size: rows of links; each link is one 64-bit word.

A link is a peer and a *stamp*: the cycle in which that peer itself last made the link. The stamp is the high
half of the word, the peer the low half. So the oldest link of a row is its smallest word, the younger of two
copies of a link is the larger word, and ages need no updates: an age is `cycle - stamp`. A free place holds
`FREE`, which is larger than any link. The links of a row come first, then its free places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES64, aligned, padded
from sub2sub.compiled.common.randomness import below, draw
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.simd import bits, first_bit, least, load, low_half, prefetch

FREE = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW = np.int64(0xFFFFFFFF)
_PIECE = np.uint64(21)

LinkTable = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Links as columns: holders, peers, stamps."""


def empty_views(n: int, width: int) -> NDArray[np.int64]:
    """`n` rows with room for `width` links, padded for the vector kernels.

    Examples
    --------
    >>> empty_views(2, 20).shape
    (2, 24)
    """
    return aligned((n, padded(width)), FREE, np.int64)


def view_links(view: NDArray[np.int64]) -> LinkTable:
    """All links of all rows as (holders, peers, stamps)."""
    holders, places = np.nonzero(view != FREE)
    words = view[holders, places]
    return holders, words & _LOW, words >> 32


def table_links(*tables: NDArray[Any]) -> LinkTable:
    """Links from tables of peers with one row per holder, -1 for none: (holders, peers, stamps of 0).

    Examples
    --------
    >>> table_links(np.array([[1, -1], [0, 2]]), np.array([[[-1]], [[0]]]))[:2]
    (array([0, 1, 1, 1]), array([1, 0, 2, 0]))
    """
    found = [(np.nonzero(table >= 0)[0], table[table >= 0]) for table in tables]
    holders = np.concatenate([np.empty(0, np.int64), *(rows for rows, _ in found)])
    peers = np.concatenate([np.empty(0, np.int64), *(entries.astype(np.int64) for _, entries in found)])
    return holders, peers, np.zeros_like(peers)


@rule
def link(peer, stamp):
    """The word of a link."""
    return (np.int64(stamp) << 32) | np.int64(peer)


@rule
def peer_of(word):
    """The peer of a link."""
    return word & _LOW


@rule
def stamp_of(word):
    """The cycle in which a link was made."""
    return word >> 32


@rule
def prefetch_row(rows, i):
    """Prefetch row i; this does not change the outcome."""
    for start in range(0, rows.shape[1], LANES64):
        prefetch(rows, i * rows.shape[1] + start)


@rule
def oldest(row):
    """Place of the oldest link; of equally old ones, the link to the lowest peer."""
    word = least(load(row, 0))
    for start in range(LANES64, row.shape[0], LANES64):
        word = min(word, least(load(row, start)))
    places = np.int64(0)  # of all parts, then looked at once: branches here would be mispredicted
    for start in range(0, row.shape[0], LANES64):
        places |= bits(load(row, start) == word) << start
    return first_bit(places)


@rule
def places_of_links(row, peer):
    """Mask of the places with a link to `peer`."""
    places = np.int64(0)
    for start in range(0, row.shape[0], LANES64):
        places |= bits((load(row, start) & _LOW) == peer) << start
    return places


@rule
def place_of_link(row, peer):
    """Place of the link to `peer`, or -1."""
    places = places_of_links(row, peer)
    return first_bit(places) if places else -1


@rule
def known(words, count, row):
    """Mask of those of the first `count` `words` to whose peer `row` has a link."""
    mask = np.int64(0)
    for first in range(0, count, LANES64):
        peers = low_half(load(words, first))
        for start in range(0, row.shape[0], LANES64):
            found = peers == low_half(row[start])
            for place in range(start + 1, start + LANES64):
                found |= peers == low_half(row[place])
            mask |= bits(found) << first
    return mask & ((np.int64(1) << count) - 1)


@rule
def sample(size, count, key, first):
    """A random set of `count` of the places 0 .. size - 1, as a bit mask (draws first, first + 1, ...).

    Floyd's algorithm, without rejections. `size` is at most 63, so 21 bits are enough to choose a place, and
    one draw is used for three places.
    """
    places = np.int64(0)
    bits = np.uint64(0)
    for k in range(count):
        bits = bits << _PIECE if k % 3 else draw(key, first + k // 3)
        last = size - count + k
        place = below(bits, last + 1)
        place += (last - place) * ((places >> place) & 1)
        places |= np.int64(1) << place
    return places
