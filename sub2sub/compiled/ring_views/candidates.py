"""Candidates of one peer: gathered from views a vector at a time, and filtered, cheapest filter first.

Candidates are two rows of 32-bit words, their numbers and their stamps. Each filter writes those it keeps to
the front; `count` of them are in use. The rows have room for at least `LANES32` more.
"""

from __future__ import annotations

import numpy as np

from sub2sub.compiled.common.memory import LANES32, LANES64
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.simd import (
    bits,
    gather,
    load,
    low_half,
    numbers,
    pack,
    popcount,
    prefetch,
    scaled,
    where,
)
from sub2sub.compiled.ring_views.pool import PEER, SINCE, STAMP, TRIED, field, size_of, tried_slots
from sub2sub.compiled.vicinity.proximity import overlap
from sub2sub.peers.verification import SPREAD

_SPREAD = np.int32(SPREAD - 2**32)


@rule
def _in_reach(peers, t, n, reach):
    """Whether peers are less than `reach[0]` up the ring from t, or less than `reach[1]` down."""
    ways = peers - np.int32(t)
    ways = where(ways < 0, ways + np.int32(n), ways)
    return (ways < np.int32(reach[0])) | (np.int32(n) - ways < np.int32(reach[1]))


@rule
def add_links(row, size, t, n, reach, candidates, count):
    """Add the links of a row that are in reach of t; return the new count."""
    for start in range(0, size, LANES64):
        links = load(row, start)
        peers = low_half(links)
        chosen = (links != FREE) & _in_reach(peers, t, n, reach)
        pack(candidates[0], count, peers, chosen)
        pack(candidates[1], count, low_half(links >> 32), chosen)
        count += popcount(bits(chosen))
    return count


@rule
def add_neighbours(pool, s, since, t, n, reach, candidates, count):
    """Add the neighbours of s accepted in cycle `since` or later, in reach of t; return the new count."""
    size, words = size_of(pool, s), pool.words
    peers_at, stamps_at, since_at = field(pool, s, PEER), field(pool, s, STAMP), field(pool, s, SINCE)
    for start in range(0, size, LANES32):
        peers = load(words, peers_at + start)
        chosen = (numbers(start) < size) & (load(words, since_at + start) >= np.int32(since))
        chosen &= _in_reach(peers, t, n, reach)
        some = bits(chosen)
        if some:
            pack(candidates[0], count, peers, chosen)
            pack(candidates[1], count, load(words, stamps_at + start), chosen)
            count += popcount(some)
    return count


@rule
def drop_tried(pool, t, candidates, first, count, neighbours_too, known):
    """Drop candidates from `first` on that t has tried; return the new count.

    Neighbours of t are dropped only if `neighbours_too`; their number is added to `known`.
    """
    kept, table, slots = first, field(pool, t, TRIED), tried_slots(pool, t)
    for start in range(first, count, LANES32):
        present = numbers(start) < count
        peers, stamps = load(candidates[0], start), load(candidates[1], start)
        entries = gather(pool.words, table, where(present, scaled(peers * _SPREAD, slots), 0))
        chosen = present & (entries != peers)
        if neighbours_too:
            neighbour = chosen & (entries == (peers ^ np.int32(-1)))
            known[0] += popcount(bits(neighbour))
            chosen ^= neighbour
        pack(candidates[0], kept, peers, chosen)
        pack(candidates[1], kept, stamps, chosen)
        kept += popcount(bits(chosen))
    return kept


@rule
def prefetch_boxes(boxes, candidates, first, count):
    """Prefetch the boxes of the candidates from `first` on."""
    width = 2 * boxes.shape[2]
    for k in range(first, count):
        prefetch(boxes, np.int64(candidates[0, k]) * width)


@rule
def keep_overlapping(boxes, t, candidates, count):
    """Keep the candidates that overlap t and are not t; return the new count."""
    kept = np.int64(0)
    for k in range(count):
        x, stamp = np.int64(candidates[0, k]), candidates[1, k]
        # Written in any case, so that there is no branch to mispredict; `kept` decides whether it counts.
        candidates[0, kept], candidates[1, kept] = x, stamp
        kept += (x != t) & overlap(boxes, x, t)
    return kept
