"""VICINITY's two rules: which links are nearest to a partner, and which received links to keep.

Both work on masks: bit k stands for the k-th link of a row or of a message. Most views are soon full of
overlapping peers. Then only overlap matters, and the distance of a peer that does not overlap is computed
only where it can still make a difference. Callers compute which received links are known
(`sub2sub.compiled.common.views.known`) before any link is written: a vector load waits for the scalar stores
just before it.

A view is a row of links with a row of distances, called gaps (see `sub2sub.compiled.vicinity.proximity`), a
size, and `worst`: the largest gap of a full view, `FAR` for a view with free places. It is 0 if and only if
the view is full and all its peers overlap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES64
from sub2sub.compiled.common.views import FREE, peer_of, place_of_link, places_of_links, sample, stamp_of
from sub2sub.compiled.machinery.compilation import part, rule
from sub2sub.compiled.machinery.simd import bits, first_bit, greatest, least, loader, popcount, raw_bits
from sub2sub.compiled.vicinity.proximity import overlap, proximity

FAR = np.float32(np.inf)
NONE = np.float32(-1.0)  # the gap of a free place: below that of any link
RANDOM, SEQUENCE = 0, 2  # of `Tie`, as plain numbers, which numba treats as constants


_load_gaps = loader(LANES64)  # as many as there are links in a vector


class Ranked(NamedTuple):
    """Links and their distances: a view, or a message."""

    words: NDArray[np.int64]
    gaps: NDArray[np.float32]


class Known(NamedTuple):
    """The proximity links and the random links of a peer: rows, and how many places are in use."""

    row: NDArray[np.int64]
    size: int
    random_row: NDArray[np.int64]
    randoms: int


@rule
def overlapping(target, row, size, boxes):
    """Mask of the links of a row whose peers overlap `target`, except a link to `target` itself."""
    mask = np.int64(0)
    for place in range(size):
        mask |= np.int64(overlap(boxes, target, peer_of(row[place]))) << place
    return mask & ~places_of_links(row, target)


@part
def overlapping_for(target, known, start, wanted, boxes, out):
    """Write up to `wanted` links to peers that overlap `target`: from `start` on, then random ones."""
    row, size = known.row, known.size
    mask = overlapping(target, row, size, boxes)
    mask = (mask >> start) | ((mask << (size - start)) & ((np.int64(1) << size) - 1))
    count = min(wanted, popcount(mask))
    for k in range(count):
        place = start + first_bit(mask)
        mask &= mask - 1
        out.words[k], out.gaps[k] = row[place if place < size else place - size], 0.0
    if count < wanted:
        mask = overlapping(target, known.random_row, known.randoms, boxes)
        while mask and count < wanted:
            word = known.random_row[first_bit(mask)]
            mask &= mask - 1
            if places_of_links(row, peer_of(word)) == 0:
                out.words[count], out.gaps[count] = word, 0.0
                count += 1
    return count


@rule
def least_place(gaps, size):
    """Place of the smallest of `size` gaps, the first of equals; the gaps are padded with `FAR`."""
    lowest = least(raw_bits(_load_gaps(gaps, 0)))
    for start in range(LANES64, size, LANES64):
        lowest = min(lowest, least(raw_bits(_load_gaps(gaps, start))))
    for start in range(0, size, LANES64):
        found = bits(raw_bits(_load_gaps(gaps, start)) == lowest)
        if found:
            return start + first_bit(found)
    return 0


@rule
def nearest_for(target, known, start, wanted, selective, boxes, tie, scratch, out):
    """Write the `wanted` links nearest to `target`, of equals the first: from `start` on, then random ones.

    Returns their number. With `selective`, links that do not overlap may be left out: the receiver would
    refuse them. `scratch` has room for all known links and `LANES64` more.
    """
    row, size = known.row, known.size
    count = 0
    if tie != SEQUENCE:
        count = overlapping_for(target, known, start, wanted, boxes, out)
    if count == wanted or selective:
        return count
    words, far = scratch
    total = 0
    for which in range(size):
        place = start + which
        word = row[place if place < size else place - size]
        if peer_of(word) != target:
            words[total], far[total] = word, proximity(boxes, target, peer_of(word), tie)
            total += 1
    for place in range(known.randoms):
        word = known.random_row[place]
        if peer_of(word) != target and places_of_links(row, peer_of(word)) == 0:
            words[total], far[total] = word, proximity(boxes, target, peer_of(word), tie)
            total += 1
    for place in range(total, total + LANES64):
        far[place] = FAR
    count = min(wanted, total)
    for k in range(count):
        place = least_place(far, total)
        out.words[k], out.gaps[k] = words[place], far[place]
        far[place] = FAR
    return count


@rule
def young(words, count, oldest_allowed):
    """Mask of the links made in cycle `oldest_allowed` or later."""
    mask = np.int64(-1)
    if oldest_allowed > 0:
        mask = np.int64(0)
        for k in range(count):
            mask |= np.int64(stamp_of(words[k]) >= oldest_allowed) << k
    return mask


@rule
def near_enough(gaps, count, worst):
    """Mask of the links not farther than `worst`."""
    mask = np.int64(0)
    for k in range(count):
        mask |= np.int64(gaps[k] <= worst) << k
    return mask


@rule
def farthest_place(gaps):
    """Place of the largest gap of a full view, the first of equals."""
    highest = greatest(raw_bits(_load_gaps(gaps, 0)))
    for start in range(LANES64, gaps.shape[0], LANES64):
        highest = max(highest, greatest(raw_bits(_load_gaps(gaps, start))))
    places = np.int64(0)
    for start in range(0, gaps.shape[0], LANES64):
        places |= bits(raw_bits(_load_gaps(gaps, start)) == highest) << start
    return first_bit(places)


@rule
def refresh(row, words, mask):
    """Keep the fresher of two copies of each known link."""
    while mask:
        word = words[first_bit(mask)]
        mask &= mask - 1
        place = place_of_link(row, peer_of(word))
        row[place] = max(row[place], word)


@part
def displace(view, size, room, worst, received, news):
    """Let new links fill free places, then replace farther ones; return (size, worst, rest).

    The rest are overlapping links for which a view full of overlapping links has no place.
    """
    row, gaps = view
    rest = np.int64(0)
    while news:
        k = first_bit(news)
        news &= news - 1
        word, gap = received.words[k], received.gaps[k]
        if size < room:
            row[size], gaps[size] = word, gap
            size += 1
            if size == room:
                worst = gaps[farthest_place(gaps)]
        elif gap < worst:
            place = farthest_place(gaps)
            row[place], gaps[place] = word, gap
            worst = gaps[farthest_place(gaps)]
        elif gap == 0.0:
            rest |= np.int64(1) << k
    return size, worst, rest


@rule
def keep_nearest(view, size, room, worst, received, mask, old, tie, key, first):
    """Accept the received links in `mask` (`young` and `near_enough`); return (size, worst).

    `old` is the mask of known links. If the whole view overlaps, new links take random places (draws from
    `first` on) or none, depending on `tie`.
    """
    refresh(view.words, received.words, mask & old)
    news = mask & ~old
    if worst > 0.0:
        size, worst, news = displace(view, size, room, worst, received, news)
    if tie == RANDOM and worst == 0.0:
        places = sample(room, min(room, popcount(news)), key, first)
        while places:
            view.words[first_bit(places)] = received.words[first_bit(news)]
            places &= places - 1
            news &= news - 1
    return size, worst


@rule
def drop(view, size, place):
    """Remove the link at `place`; return the new size."""
    row, gaps = view
    size -= 1
    row[place], gaps[place] = row[size], gaps[size]
    row[size], gaps[size] = FREE, NONE
    return size
