"""CYCLON's exchange rules for rows of links: which links to send, and which received links to keep.

Voulgaris, Gavidia, van Steen, *CYCLON*, 2005, Section 3; `sub2sub.cyclon.layer` lists the differences. Masks
have one bit per place of a row or of a message.
"""

from __future__ import annotations

import numpy as np

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import stream_number
from sub2sub.kernels.simd import first_bit
from sub2sub.overlay.views import known, places_of

STREAM = stream_number("cyclon")
# First number of a peer's draws for each purpose.
SENT, ANSWERED, REQUEST, REPLY = 0, 32, 64, 65


@rule
def take(row, places, out):
    """Copy the links at `places` (a mask) to `out`; return their number."""
    count = 0
    while places:
        out[count] = row[first_bit(places)]
        places &= places - 1
        count += 1
    return count


@rule
def shuffle_news(owner, row, received, count):
    """Mask of the received links that lead neither to the owner nor to a peer in its row.

    Computed before any link is written: a vector load waits for the scalar stores just before it.
    """
    everything = (np.int64(1) << count) - 1
    return everything & ~known(received, count, row) & ~places_of(received, owner)


@rule
def shuffle_merge(row, size, room, sent, received, news):
    """Accept the received links in `news`: fill free places, then overwrite links that were sent."""
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
    """The peer to retry after q did not answer: the first one until it fails the retry, then the next.

    One that fails a retry is kept, as -2 - q, until another fails to answer: it may be beyond a partition.
    """
    if again:
        return -2 - q
    return q if lost < 0 else lost
