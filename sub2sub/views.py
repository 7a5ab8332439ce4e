"""Views of fixed size: rows of links, a link one 64-bit word.

A link is a peer and the cycle in which that peer itself last made it (its *stamp*): the stamp stands in
the high half of the word, the peer in the low half. So the oldest link of a row is its least word, the
fresher of two copies of a link is the larger, and an age never has to be counted up: it is
`cycle - stamp`. A free place holds `FREE`, larger than any link. The links of a row stand at its front.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import rule
from sub2sub.lanes import LANES, aligned, equal_lanes, first_bit, least_lane, low_equal_lanes, padded
from sub2sub.randomness import below, draw

__all__ = ["FREE", "empty_views", "link", "oldest", "peer_of", "place_of", "sample", "stamp_of", "view_links"]

FREE = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW = np.int64(0xFFFFFFFF)


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
    least = least_lane(row, 0)
    for start in range(LANES, row.shape[0], LANES):
        least = min(least, least_lane(row, start))
    for start in range(0, row.shape[0], LANES):
        mask = equal_lanes(row, start, least)
        if mask:
            return start + first_bit(mask)
    return 0


@rule
def place_of(row, peer):
    """Place of the link to `peer`, or -1."""
    for start in range(0, row.shape[0], LANES):
        mask = low_equal_lanes(row, start, peer)
        if mask:
            return start + first_bit(mask)
    return -1


@rule
def sample(size, count, key, first):
    """A random set of `count` of the places 0 .. size - 1 as a bit mask (draws first, first + 1, ...).

    Floyd's algorithm: one draw per place and no rejections. `size` is at most 63.
    """
    places = np.int64(0)
    for k in range(count):
        last = size - count + k
        place = below(draw(key, first + k), last + 1)
        place += (last - place) * ((places >> place) & 1)
        places |= np.int64(1) << place
    return places
