"""Who a peer exchanges ring links with, and loading what that will need before it is needed.

The paper (Sub-2-Sub, Section 4.1) leaves open which neighbour to exchange with: see
`sub2sub.ring.settings.Partner`.

A partner's view is anywhere in the memory, and waiting for it would take as long as the exchange.
So a few turns ahead a peer's own view is asked for, then the view of the partner it would choose now. That is
a hint: if the choice turns out differently, nothing is lost but time.
"""

from __future__ import annotations

import numpy as np

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.memory import LANES32, LANES64
from sub2sub.kernels.randomness import below, draw, peer_key
from sub2sub.kernels.rows import least_value, place_of_value
from sub2sub.kernels.simd import prefetch
from sub2sub.ring.pool import MET, PEER, WITNESS, field, get, size_of, way_up
from sub2sub.ring.shadow import CELLS

__all__ = ["AHEAD", "CHOICE", "choose_partner", "look_ahead"]

CHOICE = 0  # number of the draw
AHEAD = 4  # partners chosen ahead that are kept in mind
MOST = 48 * LANES32  # words of one view to ask for, a cache line at a time


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
    # Of several not met for longest, the first from a random place on.
    met = field(pool, t, MET)
    least = least_value(pool.words, met, size)
    place = place_of_value(pool.words, met + first, size - first, least)
    return first + place if place >= 0 else place_of_value(pool.words, met, first, least)


@rule
def _prefetch_view(pool, t):
    """Start to load the view of t but for its witnesses, which are seldom needed."""
    first = pool.start[t]
    for word in range(first, first + min(WITNESS * np.int64(pool.room[t]), MOST), LANES32):
        prefetch(pool.words, word)


@rule
def _prefetch_rows(array, row, width):
    for item in range(row * width, (row + 1) * width, LANES64):
        prefetch(array, item)


@rule
def look_ahead(pool, feeds, policy, i, key, ahead):
    """Start to load what the turns of the three peers after i will need."""
    n = pool.size.shape[0]
    if i + 3 < n:
        _prefetch_view(pool, i + 3)
    if i + 2 < n:
        place = choose_partner(pool, i + 2, policy, n, draw(peer_key(key, i + 2), CHOICE))
        j = get(pool, i + 2, PEER, place) if place >= 0 else i
        ahead[(i + 2) % AHEAD] = j
        prefetch(pool.start, j)
        prefetch(pool.room, j)
        prefetch(pool.size, j)
        prefetch(pool.shadow, 2 * j * CELLS)
        prefetch(pool.shadow, (2 * j + 1) * CELLS)
        _prefetch_rows(feeds.near, j, feeds.near.shape[1])
        _prefetch_rows(feeds.random, j, feeds.random.shape[1])
    _prefetch_view(pool, ahead[(i + 1) % AHEAD])
