"""Which links of one peer another may need, and how it considers them.

In an exchange a peer sees a few hundred candidates; once its view has converged, it accepts none. `collect`
filters them a vector at a time, with the cheapest test first: is the candidate near enough on the ring to
matter, was it tried before (`sub2sub.compiled.ring_views.pool.TRIED`), does it overlap, does the shadow show
that it is superfluous (`sub2sub.compiled.ring_views.shadow`)? `consider` offers the few that are left to the
view (`sub2sub.compiled.ring_views.view`), nearest first, so that few are accepted that a later one makes
superfluous. Candidates are noted as columns of `Scratch.offers`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.machinery.compilation import apart, part, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.ring_views.candidates import (
    add_links,
    add_neighbours,
    drop_tried,
    keep_overlapping,
    prefetch_boxes,
)
from sub2sub.compiled.ring_views.pool import (
    PEER,
    STAMP,
    find,
    get,
    place_of,
    put,
    size_of,
    way_up,
    write_tried,
)
from sub2sub.compiled.ring_views.shadow import touched_cells
from sub2sub.compiled.ring_views.tombstones import is_outdated
from sub2sub.compiled.ring_views.view import drop_hidden, is_hidden, offer

# Rows of `Scratch.offers`: the peer, its stamp, the cells that it touches, its distance; and the columns in
# the order in which to consider them.
OFFERED, AS_OF, TOUCHED, AWAY, ORDER = range(5)


@by_reference
class Feeds(NamedTuple):
    """The links of the layers below."""

    near: NDArray[np.int64]  # (n, width), see sub2sub.compiled.common.views
    near_size: NDArray[np.int8]
    random: NDArray[np.int64]
    random_size: NDArray[np.int8]


@apart
def collect(pool, boxes, feeds, t, s, met, settings, scratch):
    """Note the links of s, or of t itself, that t may need; return how many there are.

    Links that were in the ring view of s when the two last met were offered then. They need not be offered
    again unless a neighbour was removed from t's view since.
    """
    n, reach, candidates, known = boxes.shape[0], scratch.frame.reach, scratch.gathered, scratch.known
    count = add_links(feeds.near[s], np.int64(feeds.near_size[s]), t, n, reach, candidates, np.int64(0))
    count = add_links(feeds.random[s], np.int64(feeds.random_size[s]), t, n, reach, candidates, count)
    # Where links have ages, a link to a neighbour of t may be fresher than that of t.
    count = drop_tried(pool, t, candidates, np.int64(0), count, 1 - settings.aged, known)
    prefetch_boxes(boxes, candidates, np.int64(0), count)
    if s != t:
        fed = count
        since = met if pool.last_removal[t] < met else np.int64(-1)
        count = add_neighbours(pool, s, since, t, n, reach, candidates, count)
        prefetch_boxes(boxes, candidates, fed, count)
        # For neighbours of both, the stamps have been compared (`renew_stamps`).
        count = drop_tried(pool, t, candidates, fed, count, np.int64(1), known)
    count = keep_overlapping(boxes, t, candidates, count)
    noted = np.int64(0)
    for k in range(count):
        x, stamp = np.int64(candidates[0, k]), np.int64(candidates[1, k])
        if stamp >= settings.oldest:
            noted = note(pool, boxes, t, x, stamp, scratch, noted)
    return noted


@rule
def note(pool, boxes, t, x, stamp, scratch, count):
    """Note the overlapping peer x for t, unless its shadow hides x; return the new count."""
    n, offers = boxes.shape[0], scratch.offers
    touched = touched_cells(boxes, x, scratch.frame)
    if is_hidden(pool.shadow, t, touched, way_up(t, x, n), n):
        return count
    offers[OFFERED, count], offers[AS_OF, count], offers[TOUCHED, count] = x, stamp, touched
    return count + 1


@rule
def _renew(pool, t, place, stamp):
    """Let the fresher stamp win."""
    put(pool, t, STAMP, place, max(get(pool, t, STAMP, place), stamp))


@part
def _enqueue(offers, queued, column, away):
    """Insert a column into the order by distance: an insertion sort, as there are few."""
    offers[AWAY, column] = away
    at = queued
    while at > 0 and offers[AWAY, offers[ORDER, at - 1]] > away:
        offers[ORDER, at] = offers[ORDER, at - 1]
        at -= 1
    offers[ORDER, at] = column


@part
def _enqueue_unknown(pool, t, n, count, settings, offers):
    """Queue the offers that are not neighbours of t, renew the stamps of the others; return the length."""
    queued = np.int64(0)
    for k in range(count):
        x = offers[OFFERED, k]
        place = place_of(pool, t, x)
        if place < 0:
            _enqueue(offers, queued, k, min(abs(x - t), n - abs(x - t)))
            queued += 1
        else:
            write_tried(pool, t, x, ~x)
            if settings.aged:
                _renew(pool, t, place, offers[AS_OF, k])
    return queued


@apart
def consider(pool, boxes, t, count, settings, scratch, probes, news, used):
    """Offer t the noted candidates, nearest on the ring first; return how many rows of `news` are used."""
    offers = scratch.offers
    queued = _enqueue_unknown(pool, t, boxes.shape[0], count, settings, offers)
    before = used
    for step in range(queued):
        k = offers[ORDER, step]
        x, stamp = offers[OFFERED, k], offers[AS_OF, k]
        if used > before:  # x may have been noted twice
            place = place_of(pool, t, x)
            if place >= 0:
                if settings.aged:
                    _renew(pool, t, place, stamp)
                continue
        if settings.cap > 0 and pool.size[t] >= settings.cap:
            continue
        if settings.verify and is_outdated(pool, t, x, stamp):
            continue
        if offer(pool, boxes, t, x, offers[TOUCHED, k], stamp, settings, scratch, probes):
            news[used, 0], news[used, 1] = t, x
            used += 1
    for side in range(2):
        if scratch.struck[side]:
            scratch.struck[side] = 0
            drop_hidden(pool, boxes, t, side, settings, scratch)
    return used


@apart
def renew_stamps(pool, a, b, n, answered):
    """Give b, and a if it is answered, the fresher stamp of each neighbour that they share."""
    size_a, size_b = size_of(pool, a), size_of(pool, b)
    # Go through both views in the order of the ring, starting after b.
    split = find(pool, a, way_up(a, b, n), n)
    at_b = np.int64(0)
    for k in range(size_a):
        at_a = split + k if split + k < size_a else split + k - size_a
        x = get(pool, a, PEER, at_a)
        way = way_up(b, x, n)
        while at_b < size_b and way_up(b, get(pool, b, PEER, at_b), n) < way:
            at_b += 1
        if at_b < size_b and get(pool, b, PEER, at_b) == x:
            stamp = max(get(pool, a, STAMP, at_a), get(pool, b, STAMP, at_b))
            put(pool, b, STAMP, at_b, stamp)
            if answered:
                put(pool, a, STAMP, at_a, stamp)
