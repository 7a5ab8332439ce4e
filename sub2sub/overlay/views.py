"""Views of fixed size: rows of links, a link one 64-bit word.

A link is a peer and the cycle in which that peer itself last made it (its *stamp*): the stamp stands in
the high half of the word, the peer in the low half. So the oldest link of a row is its least word, the
fresher of two copies of a link is the larger, and an age never has to be counted up: it is
`cycle - stamp`. A free place holds `FREE`, larger than any link. The links of a row stand at its front.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.memory import LANES64, aligned, padded
from sub2sub.kernels.randomness import below, draw
from sub2sub.kernels.simd import bits, first_bit, least, load, low_half

FREE = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW = np.int64(0xFFFFFFFF)
_PIECE = np.uint64(21)


def empty_views(n: int, width: int) -> NDArray[np.int64]:
    """`n` rows with room for `width` links, padded for the vector kernels.

    Examples
    --------
    >>> empty_views(2, 20).shape
    (2, 24)
    """
    return aligned((n, padded(width)), FREE, np.int64)


def view_links(view: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All links of all rows as (holders, peers, stamps)."""
    holders, places = np.nonzero(view != FREE)
    words = view[holders, places]
    return holders, words & _LOW, words >> 32


def table_links(*tables: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All peers in tables with one row per holder, -1 where there is none, as (holders, peers, stamps of 0).

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
    """The peer a link leads to."""
    return word & _LOW


@rule
def stamp_of(word):
    """The cycle a link was made in."""
    return word >> 32


@rule
def oldest(row):
    """Place of the oldest link; of equally old ones that to the lowest peer."""
    word = least(load(row, 0))
    for start in range(LANES64, row.shape[0], LANES64):
        word = min(word, least(load(row, start)))
    places = np.int64(0)  # gathered before it is looked at: a branch on where the oldest stands is a guess
    for start in range(0, row.shape[0], LANES64):
        places |= bits(load(row, start) == word) << start
    return first_bit(places)


@rule
def places_of(row, peer):
    """Mask of the places with a link to `peer`."""
    places = np.int64(0)
    for start in range(0, row.shape[0], LANES64):
        places |= bits((load(row, start) & _LOW) == peer) << start
    return places


@rule
def place_of(row, peer):
    """Place of the link to `peer`, or -1."""
    places = places_of(row, peer)
    return first_bit(places) if places else -1


@rule
def known(words, count, row):
    """Mask of the first `count` of `words` that lead to a peer `row` has a link to."""
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
    """A random set of `count` of the places 0 .. size - 1 as a bit mask (draws first, first + 1, ...).

    Floyd's algorithm: no rejections. `size` is at most 63, so that 21 bits are plenty to choose a place and
    one draw serves three.
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
