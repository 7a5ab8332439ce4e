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
from sub2sub.kernels.randomness import below, draw, peer_key
from sub2sub.kernels.simd.links import LANES, prefetch
from sub2sub.kernels.simd.ring import least_of, place_of
from sub2sub.ring.pool import MET, WITNESS
from sub2sub.ring.shadow import CELLS

__all__ = ["AHEAD", "CHOICE", "choose_partner", "look_ahead"]

CHOICE = 0  # number of the draw
AHEAD = 4  # partners chosen ahead that are kept in mind
LINE = 16  # words of a cache line
MOST = 48 * LINE  # words of one view to ask for


@rule
def choose_partner(pool, t, policy, n, bits):
    """Place in t's view of the neighbour to exchange with, or -1."""
    size = np.int64(pool.size[t])
    if size == 0:
        return np.int64(-1)
    first = below(bits, size)
    if policy == 1:
        return first
    start, met = pool.start[t], pool.start[t] + MET * np.int64(pool.room[t])
    if policy == 2:
        up, down = np.int64(pool.words[start]) - t, t - np.int64(pool.words[start + size - 1])
        return np.int64(0) if up + n * (up < 0) <= down + n * (down < 0) else size - 1
    # Of several not met for longest, the first from a random place on.
    least = least_of(pool.words, met, size)
    place = place_of(pool.words, met + first, size - first, least)
    return first + place if place >= 0 else place_of(pool.words, met, first, least)


@rule
def _prefetch_view(pool, t):
    """Start to load the view of t but for its witnesses, which are seldom needed."""
    first = pool.start[t]
    for word in range(first, first + min(WITNESS * np.int64(pool.room[t]), MOST), LINE):
        prefetch(pool.words, word)


@rule
def _prefetch_rows(array, row, width):
    for item in range(row * width, (row + 1) * width, LANES):
        prefetch(array, item)


@rule
def look_ahead(pool, feeds, policy, i, key, ahead):
    """Start to load what the turns of the three peers after i will need."""
    n = pool.size.shape[0]
    if i + 3 < n:
        _prefetch_view(pool, i + 3)
    if i + 2 < n:
        place = choose_partner(pool, i + 2, policy, n, draw(peer_key(key, i + 2), CHOICE))
        j = np.int64(pool.words[pool.start[i + 2] + place]) if place >= 0 else i
        ahead[(i + 2) % AHEAD] = j
        prefetch(pool.start, j)
        prefetch(pool.room, j)
        prefetch(pool.size, j)
        prefetch(pool.shadow, 2 * j * CELLS)
        prefetch(pool.shadow, (2 * j + 1) * CELLS)
        _prefetch_rows(feeds.near, j, feeds.near.shape[1])
        _prefetch_rows(feeds.random, j, feeds.random.shape[1])
    _prefetch_view(pool, ahead[(i + 1) % AHEAD])
