"""Counting matches without listing them: two bitmaps per slot of each attribute.

Subscriptions are taken 8,192 at a time, so that their index stays in a processor's cache. Each attribute
is cut into 256 slots at range ends. A slot has a bit per subscription in two bitmaps: *may*, its range
reaches into the slot, and *must*, it covers all of the slot. For an event, the conjunction of the *must*
bitmaps over the attributes is a set of sure matches, counted 64 at a time; only those in the conjunction of
*may* and not of *must* (a range end in the event's own slot) are compared with the event itself. So the
time is about events * subscriptions / 64, however many match.

`benchmarks/matching.py` compares it with a vectorised scan (15 to 20 times slower, 7 times where half of
the ranges are wildcards), with sorted ends, and with a tree over the events, which wins only where ranges
are very narrow.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sub2sub.compilation import kernel

__all__ = ["CHUNK", "SLOTS", "count_chunk", "cut", "place", "reach"]

SLOTS = 256
_WORDS = 128
CHUNK = 64 * _WORDS

_SAMPLE = 8192
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_M1, _M2, _M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_H01 = np.uint64(0x0101010101010101)
_U1, _U2, _U4, _U56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)

Floats = NDArray[np.float64]
Slots = NDArray[np.int16]


def cut(lows: Floats, highs: Floats) -> Floats:
    """Where to cut each attribute, (d, SLOTS - 1), from a sample of the range ends.

    Half of the cuts are at even quantiles of all ends; an end so common that it comes up twice (an exact
    value, the end of the axis) gets a slot of its own. The others spread over the distinct ends.

    Examples
    --------
    >>> cuts = cut(np.zeros((1, 1)), np.ones((1, 1)))
    >>> cuts.shape, cuts[0, :3].round(9).tolist()
    ((1, 255), [0.0, 0.0, 1.0])
    """
    step = max(1, len(lows) // _SAMPLE)
    return np.stack(
        [
            _cut_axis(np.sort(np.append(lows[::step, axis], highs[::step, axis])))
            for axis in range(lows.shape[1])
        ]
    )


def _cut_axis(ends: Floats) -> Floats:
    half = SLOTS // 2
    picks, times = np.unique(ends[np.arange(1, half) * len(ends) // half], return_counts=True)
    common = picks[times > 1][: half // 2]
    fixed = np.concatenate([picks, np.nextafter(common, np.inf)])
    distinct = np.unique(ends)
    more = SLOTS - 1 - len(fixed)
    cuts = np.unique(np.concatenate([fixed, distinct[np.arange(more) * len(distinct) // more]]))
    return np.append(cuts, np.full(SLOTS - 1 - len(cuts), np.inf))


def place(cuts: Floats, points: Floats) -> Slots:
    """The slot (rows, d) that each point falls into: slot k is [cuts[k - 1], cuts[k])."""
    return _search(cuts, points, "right")


def reach(cuts: Floats, lows: Floats, highs: Floats) -> tuple[Slots, Slots, Slots, Slots]:
    """The first and the last slot that each range reaches into, and the first and the last that it covers."""
    covered_from = _search(cuts, lows, "left") + np.int16(1)
    covered_to = _search(cuts, np.nextafter(highs, np.inf), "right") - np.int16(1)
    return place(cuts, lows), place(cuts, highs), covered_from, covered_to


def _search(cuts: Floats, values: Floats, side: Literal["left", "right"]) -> Slots:
    slots = [np.searchsorted(cuts[axis], values[:, axis], side=side) for axis in range(len(cuts))]
    return np.stack(slots, axis=1).astype(np.int16)


@kernel
def _ones(x):
    """How many bits of x are set (a form that compilers turn into one instruction)."""
    x = x - ((x >> _U1) & _M1)
    x = (x & _M2) + ((x >> _U2) & _M2)
    x = (x + (x >> _U4)) & _M4
    return np.int64((x * _H01) >> _U56)


@kernel
def _fill(start, stop, bitmaps):
    """Set each subscription's bit in its slots from `start` to `stop`."""
    for axis in range(start.shape[1]):
        bitmaps[axis] = _ZERO
        # Mark where bits change from slot to slot, then run through the slots once.
        for s in range(start.shape[0]):
            word, bit = s >> 6, _ONE << np.uint64(s & 63)
            first, after = start[s, axis], stop[s, axis] + 1
            if first < after:
                if first < SLOTS:
                    bitmaps[axis, first, word] ^= bit
                if after < SLOTS:
                    bitmaps[axis, after, word] ^= bit
        for slot in range(1, SLOTS):
            for word in range(_WORDS):
                bitmaps[axis, slot, word] ^= bitmaps[axis, slot - 1, word]


@kernel
def count_chunk(lows, highs, first, last, covered_from, covered_to, points, slots, counts):
    """Add to `counts` how many of at most CHUNK closed boxes contain each point."""
    d = lows.shape[1]
    may = np.empty((d, SLOTS, _WORDS), np.uint64)
    must = np.empty((d, SLOTS, _WORDS), np.uint64)
    _fill(first, last, may)
    _fill(covered_from, covered_to, must)
    open_ = np.empty(_WORDS, np.uint64)
    sure = np.empty(_WORDS, np.uint64)
    words = np.empty(_WORDS + 1, np.int64)
    # Three attributes in the first pass; with fewer, one stands in again, which changes nothing.
    y, z = min(1, d - 1), min(2, d - 1)
    for event in range(points.shape[0]):
        may_x, must_x = may[0, slots[event, 0]], must[0, slots[event, 0]]
        may_y, must_y = may[y, slots[event, y]], must[y, slots[event, y]]
        may_z, must_z = may[z, slots[event, z]], must[z, slots[event, z]]
        for w in range(_WORDS):
            sure[w] = must_x[w] & must_y[w] & must_z[w]
            open_[w] = may_x[w] & may_y[w] & may_z[w]
        for axis in range(3, d):
            may_x, must_x = may[axis, slots[event, axis]], must[axis, slots[event, axis]]
            for w in range(_WORDS):
                sure[w] &= must_x[w]
                open_[w] &= may_x[w]
        found = 0
        for w in range(_WORDS):
            found += _ones(sure[w])
            open_[w] ^= sure[w]
        # Collect the words that are not empty without a branch to mispredict.
        k = 0
        for w in range(_WORDS):
            words[k] = w
            k += open_[w] != _ZERO
        for i in range(k):
            bits = open_[words[i]]
            while bits != _ZERO:
                s = (words[i] << 6) + _ones((bits & (~bits + _ONE)) - _ONE)
                bits &= bits - _ONE
                inside = True
                for axis in range(d):
                    inside &= (lows[s, axis] <= points[event, axis]) & (points[event, axis] <= highs[s, axis])
                found += inside
        counts[event] += found
