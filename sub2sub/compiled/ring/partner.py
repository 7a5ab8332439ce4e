"""The partner of a ring exchange, and the prefetching of the two views.

The paper (Sub-2-Sub, Section 4.1) does not say which neighbour to exchange with: see
`sub2sub.peers.settings.Partner`.

A partner's view may be anywhere in memory, and a cache miss would cost as much time as the exchange. So some
turns ahead the positions of both views are prefetched, then the views themselves.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.common.memory import LANES32
from sub2sub.compiled.common.randomness import below
from sub2sub.compiled.common.rows import least_value, place_of_value
from sub2sub.compiled.common.views import prefetch_row
from sub2sub.compiled.machinery.compilation import part, rule
from sub2sub.compiled.machinery.simd import prefetch
from sub2sub.compiled.ring_views.pool import MET, PEER, WITNESS, field, get, size_of, way_up
from sub2sub.compiled.ring_views.shadow import CELLS

AHEAD = 2  # turns to look ahead; any number gives the same result
MOST = 48 * LANES32  # words of one view to prefetch, at most


@rule
def choose_partner(pool, t, policy, n, bits):
    """Place in t's view of the neighbour to exchange with, or -1."""
    size = size_of(pool, t)
    if size == 0:
        return np.int64(-1)
    first = below(bits, size)
    if policy == 1:
        return first
    if policy == 2:
        up = way_up(t, get(pool, t, PEER, np.int64(0)), n)
        down = way_up(get(pool, t, PEER, size - 1), t, n)
        return np.int64(0) if up <= down else size - 1
    # The one not met for longest; of equals the first from a random place on.
    met = field(pool, t, MET)
    least = least_value(pool.words, met, size)
    place = place_of_value(pool.words, met + first, size - first, least)
    return first + place if place >= 0 else place_of_value(pool.words, met, first, least)


@rule
def _prefetch_view(pool, t):
    """Prefetch the view of t, without its witnesses, which are rarely needed."""
    first = pool.start[t]
    for word in range(first, first + min(WITNESS * np.int64(pool.room[t]), MOST), LANES32):
        prefetch(pool.words, word)


@rule
def _prefetch_place(pool, t):
    """Prefetch the position of the view of t."""
    prefetch(pool.start, t)
    prefetch(pool.room, t)
    prefetch(pool.size, t)


@part
def look_ahead(pool, feeds, partner, peers, k):
    """Prefetch what the exchanges after number k will need."""
    if k + 2 * AHEAD < peers.shape[0]:
        _prefetch_place(pool, np.int64(peers[k + 2 * AHEAD]))
        _prefetch_place(pool, np.int64(partner[peers[k + 2 * AHEAD]]))
    if k + AHEAD < peers.shape[0]:
        i = np.int64(peers[k + AHEAD])
        for t in (i, np.int64(partner[i])):
            _prefetch_view(pool, t)
            prefetch(pool.shadow, 2 * t * CELLS)
            prefetch(pool.shadow, (2 * t + 1) * CELLS)
            prefetch_row(feeds.near, t)
            prefetch_row(feeds.random, t)


@part
def look_ahead_alone(pool, peers, k):
    """Prefetch the view of a peer whose turn comes soon."""
    if k + AHEAD < peers.shape[0]:
        _prefetch_view(pool, np.int64(peers[k + AHEAD]))
