"""What one peer may want of what another knows, and the taking of it.

In an exchange a peer sees a few hundred candidates, of which a settled one takes none. `collect` goes through
them a vector at a time, cheapest question first: is it near enough on the ring to matter, was it tried before
(`sub2sub.ring.pool.TRIED`), does it overlap, is it plainly hidden (`sub2sub.ring.shadow`)? `consider` offers
the few that are left to the view (`sub2sub.ring.view`), nearest first, so that few are taken that a later one
makes superfluous.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import apart, rule
from sub2sub.kernels.simd.offers import append_links, append_neighbours, drop_tried, keep_overlapping
from sub2sub.kernels.simd.ring import place_of
from sub2sub.ring.pool import SINCE, SLOTS, STAMP, TRIED, find, tried_at
from sub2sub.ring.shadow import touched_cells
from sub2sub.ring.view import drop_hidden, is_hidden, offer

__all__ = ["Feeds", "Manner", "collect", "consider", "note", "renew_stamps"]


class Feeds(NamedTuple):
    """The links of the layers below."""

    near: NDArray[np.int64]  # (n, width), see sub2sub.overlay.views
    near_size: NDArray[np.int8]
    random: NDArray[np.int64]
    random_size: NDArray[np.int8]


class Manner(NamedTuple):
    """The settings as numbers, and what follows from them in one cycle."""

    partner: int
    exchanges: int
    two_sided: int
    drop_failed: int
    cap: int
    max_steps: int
    aged: int  # whether links have an age
    oldest: int  # least stamp to keep or take up


@apart
def collect(pool, boxes, feeds, t, s, met, manner, desk, offers):
    """Note in `offers` what t may want of what s, or t itself, knows; how many there are.

    What stood in the ring view of s when the two last met was offered then, and need not be offered again as
    long as nothing was removed from t's view since.
    """
    n, frame = boxes.shape[0], desk.frame
    up, down, found = frame.reach[0], frame.reach[1], desk.heap
    count = append_links(feeds.near, s, np.int64(feeds.near_size[s]), t, n, up, down, found, np.int64(0))
    count = append_links(feeds.random, s, np.int64(feeds.random_size[s]), t, n, up, down, found, count)
    tried, slots = pool.start[t] + TRIED * np.int64(pool.room[t]), SLOTS * np.int64(pool.room[t])
    # Where links have ages, a neighbour's may be fresher than the one at hand.
    count = drop_tried(found, np.int64(0), count, pool.words, tried, slots, 1 - manner.aged, desk.known)
    if s != t:
        fed = count
        memory = met if pool.forgot[t] < met else np.int64(-1)
        start, size, room = pool.start[s], np.int64(pool.size[s]), np.int64(pool.room[s])
        count = append_neighbours(
            pool.words, start, start + STAMP * room, start + SINCE * room, size, memory, t, n, up, down,
            found, count,
        )  # fmt: skip
        # For neighbours of both, the stamps have been compared (`renew_stamps`).
        count = drop_tried(found, fed, count, pool.words, tried, slots, 1, desk.known)
    count = keep_overlapping(found, count, boxes, t)
    noted = np.int64(0)
    for k in range(count):
        x, stamp = np.int64(found[0, k]), np.int64(found[1, k])
        if stamp >= manner.oldest:
            noted = note(pool, boxes, t, x, stamp, frame, offers, noted)
    return noted


@rule
def note(pool, boxes, t, x, stamp, frame, offers, count):
    """Note the overlapping peer x for t unless it is plainly superfluous; the new count."""
    touched = touched_cells(boxes, x, frame)
    up = x - t if x > t else x - t + boxes.shape[0]
    if is_hidden(pool.shadow, t, touched, up, boxes.shape[0]):
        return count
    offers[0, count], offers[1, count], offers[2, count] = x, stamp, touched
    return count + 1


@rule
def _renew(pool, t, place, stamp):
    """Let the fresher stamp win."""
    at = pool.start[t] + STAMP * np.int64(pool.room[t]) + place
    pool.words[at] = max(pool.words[at], stamp)


@apart
def consider(pool, boxes, t, offers, count, manner, cycle, d, desk, news, told):
    """Offer t what was noted, nearest on the ring first; returns how many news there are to tell."""
    n = boxes.shape[0]
    order = offers[3]
    unknown = 0
    for k in range(count):
        x = offers[0, k]
        place = place_of(pool.words, pool.start[t], np.int64(pool.size[t]), x)
        if place < 0:
            away = min(abs(x - t), n - abs(x - t)) << 32 | k
            at = unknown
            while at > 0 and order[at - 1] > away:
                order[at] = order[at - 1]
                at -= 1
            order[at] = away
            unknown += 1
        else:
            pool.words[tried_at(pool.start, pool.room, t, x)] = ~x
            if manner.aged:
                _renew(pool, t, place, offers[1, k])
    before = told
    for step in range(unknown):
        k = order[step] & 0xFFFFFFFF
        x, stamp = offers[0, k], offers[1, k]
        if told > before:  # x may have been noted twice
            place = place_of(pool.words, pool.start[t], np.int64(pool.size[t]), x)
            if place >= 0:
                if manner.aged:
                    _renew(pool, t, place, stamp)
                continue
        if manner.cap > 0 and pool.size[t] >= manner.cap:
            continue
        if offer(pool, boxes, t, x, offers[2, k], stamp, cycle, d, manner.max_steps, desk):
            news[told, 0], news[told, 1] = t, x
            told += 1
    for side in range(2):
        if desk.struck[side]:
            desk.struck[side] = 0
            drop_hidden(pool, boxes, t, side, d, manner.max_steps, desk)
    return told


@rule
def _way_up(t, x, n):
    return x - t if x >= t else x - t + n


@apart
def renew_stamps(pool, a, b, n, answered):
    """Let b, and a if it is answered, have the fresher stamp of each neighbour they share."""
    size_a, size_b = np.int64(pool.size[a]), np.int64(pool.size[b])
    start_a, start_b = pool.start[a], pool.start[b]
    stamps_a = start_a + STAMP * np.int64(pool.room[a])
    stamps_b = start_b + STAMP * np.int64(pool.room[b])
    # Both in the order of the ring as seen from b.
    split = find(pool, a, _way_up(a, b, n), n)
    k_b = np.int64(0)
    for k in range(size_a):
        k_a = split + k if split + k < size_a else split + k - size_a
        x = np.int64(pool.words[start_a + k_a])
        way = _way_up(b, x, n)
        while k_b < size_b and _way_up(b, np.int64(pool.words[start_b + k_b]), n) < way:
            k_b += 1
        if k_b < size_b and pool.words[start_b + k_b] == x:
            stamp = max(pool.words[stamps_a + k_a], pool.words[stamps_b + k_b])
            pool.words[stamps_b + k_b] = stamp
            if answered:
                pool.words[stamps_a + k_a] = stamp
