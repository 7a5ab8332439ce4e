"""CYCLON's exchange rules over rows of links: which to send, which of those that arrive to keep.

Voulgaris, Gavidia, van Steen, *CYCLON*, 2005, Section 3; `sub2sub.cyclon.layer` tells where they are read
differently. Masks have one bit per place of a row or of a message.
"""

from __future__ import annotations

import numpy as np

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import stream_number
from sub2sub.kernels.simd import first_bit
from sub2sub.overlay.views import known, places_of

STREAM = stream_number("cyclon")
# Where a peer's draws for each purpose begin.
SENT, ANSWERED, REQUEST, REPLY = 0, 32, 64, 65


@rule
def take(row, places, out):
    """Copy the links at `places` (a mask) to `out`; how many."""
    count = 0
    while places:
        out[count] = row[first_bit(places)]
        places &= places - 1
        count += 1
    return count


@rule
def shuffle_news(owner, row, received, count):
    """Mask of the received links that lead neither to the owner nor to a peer it already has.

    Decided for all of them before one is written: a vector load waits for the scalar stores just before it.
    """
    everything = (np.int64(1) << count) - 1
    return everything & ~known(received, count, row) & ~places_of(received, owner)


@rule
def shuffle_merge(row, size, room, sent, received, news):
    """Accept the received links marked in `news`: free places first, then those that were sent away."""
    while news:
        if size < room:
            place = size
            size += 1
        elif sent:
            place = first_bit(sent)
            sent &= sent - 1
        else:
            break
        row[place] = received[first_bit(news)]
        news &= news - 1
    return size


@rule
def remember(lost, q, again):
    """The peer to try again after q did not answer: the first one, until it fails again; then the next.

    One that failed again is kept, as -2 - q, while nobody else fails to answer: it may be beyond a partition.
    """
    if again:
        return -2 - q
    return q if lost < 0 else lost
