"""Counting and listing matches: bitmaps of who is in, at range ends.

Subscriptions are taken 8,192 at a time, so that their index stays in a processor's cache. Along one
attribute, a bit per subscription says whether its range holds the value; walking up, it *flips* where the
range begins and behind its end. Events come in the order of the first attribute, whose bitmap is kept up to
date by its flips. The other attributes have a bitmap at each of 512 cuts; that of an event is the one at the
nearer cut, plus the few flips in between. The conjunction of the attributes' bitmaps is counted 64 bits at a
time. Nothing is ever compared with the event itself, so the time is about events * subscriptions / 64
however many match, and the same for wide ranges and narrow ones. Where ranges are narrow, a tree of the
events is faster (`workloads.match.event_tree`); `workloads.match.index` chooses.

`benchmarks/matching.py` compares both with a vectorised scan and with sorted ends.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import kernel

__all__ = ["CHUNK", "SLOTS", "Bitmaps", "cut", "flips", "place"]

SLOTS = 512
_WORDS = 128
CHUNK = 64 * _WORDS

_BATCH = 8
_SAMPLE = 8192
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_M1, _M2, _M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_H01 = np.uint64(0x0101010101010101)
_U1, _U2, _U4, _U56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)

Floats = NDArray[np.float64]
Slots = NDArray[np.int16]
Integers = NDArray[np.int64]
Names = NDArray[np.signedinteger[Any]]
Number = TypeVar("Number", bound=np.signedinteger[Any])
Flips = tuple[Floats, NDArray[np.int16], Integers]


def cut(lows: Floats, highs: Floats) -> Floats:
    """Where to cut each attribute, (d, SLOTS - 1), from a sample of the flips.

    A value at which more than a slot's share of the ranges begin or end (an exact value, the end of the
    axis) is a cut, so that its flips are in the bitmap; the other cuts are even quantiles of the rest.

    Examples
    --------
    >>> cuts = cut(np.zeros((1, 1)), np.ones((1, 1)))
    >>> cuts.shape, cuts[0, :3].round(9).tolist()
    ((1, 511), [0.0, 1.0, inf])
    """
    step = max(1, len(lows) // _SAMPLE)
    ends = np.concatenate([lows[::step], np.nextafter(highs[::step], np.inf)])
    return np.stack([_cut_axis(column) for column in ends.T])


def _cut_axis(ends: Floats) -> Floats:
    values, times = np.unique(ends, return_counts=True)
    common = times > len(ends) / SLOTS
    rest = np.repeat(values[~common], times[~common])
    more = SLOTS - 1 - np.count_nonzero(common)
    quantiles = rest[np.arange(more) * len(rest) // more] if len(rest) else rest
    cuts = np.union1d(values[common], quantiles)
    return np.append(cuts, np.full(SLOTS - 1 - len(cuts), np.inf))


def place(cuts: Floats, points: Floats) -> Slots:
    """The slot (rows, d) that each point falls into: slot k is [cuts[k - 1], cuts[k])."""
    slots = [np.searchsorted(cuts[axis], points[:, axis], side="right") for axis in range(len(cuts))]
    return np.stack(slots, axis=1).astype(np.int16)


def flips(cuts: Floats, lows: Floats, highs: Floats) -> Flips:
    """Where bits flip along each attribute, in order, whose bit it is, and the first flip of each slot.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.75], [1.0]])
    >>> at, who, starts = flips(cut(lows, highs), lows, highs)
    >>> at.round(9).tolist(), who.tolist(), starts[0, :4].tolist()
    ([[0.0, 0.5, 0.75, 1.0]], [[0, 1, 0, 1]], [0, 1, 2, 3])
    """
    ends = np.ascontiguousarray(np.concatenate([lows, np.nextafter(highs, np.inf)]).T)
    order = np.argsort(ends, axis=1)
    at = np.take_along_axis(ends, order, axis=1)
    starts = np.zeros((len(cuts), SLOTS + 1), np.int64)
    for axis in range(len(cuts)):
        starts[axis, 1:SLOTS] = np.searchsorted(at[axis], cuts[axis], side="right")
    starts[:, SLOTS] = at.shape[1]
    return at, (order % len(lows)).astype(np.int16), starts


@kernel
def _ones(x):
    """How many bits of x are set (a form that compilers turn into one instruction)."""
    x = x - ((x >> _U1) & _M1)
    x = (x & _M2) + ((x >> _U2) & _M2)
    x = (x + (x >> _U4)) & _M4
    return np.int64((x * _H01) >> _U56)


@kernel
def _bitmaps(who, starts):
    """Who is in at the start of each slot of each attribute but the first, and behind the last slot."""
    bitmaps = np.zeros((who.shape[0], SLOTS + 1, _WORDS), np.uint64)
    for axis in range(1, who.shape[0]):
        for slot in range(1, SLOTS + 1):
            now = bitmaps[axis, slot]
            now[:] = bitmaps[axis, slot - 1]
            for k in range(starts[axis, slot - 1], starts[axis, slot]):
                s = who[axis, k]
                now[s >> 6] ^= _ONE << np.uint64(s & 63)
    return bitmaps


@kernel
def _visit_chunk(at, who, starts, points, slots, counts, names, first, offsets, members):
    """Count, find the first of, or list those of at most CHUNK boxes that contain each point.

    Points rise in the first attribute. `counts` gets how many were found added to it. Where `first` has a
    place per point, one that is still below 0 gets the name of the first box found. Where `members` has
    places, the names of the boxes found, in rising order, go there from `offsets` of the point on.
    """
    d, ends = at.shape
    bitmaps = _bitmaps(who, starts)
    first_axis = np.zeros(_WORDS, np.uint64)
    passed = 0
    # A few events at a time, attribute by attribute: reading back what was just written would stall.
    stage = np.empty((_BATCH, 2, _WORDS), np.uint64)
    filled = np.empty(_WORDS + 1, np.int64)
    for begin in range(0, points.shape[0], _BATCH):
        end = min(begin + _BATCH, points.shape[0])
        for event in range(begin, end):
            while passed < ends and at[0, passed] <= points[event, 0]:
                s = who[0, passed]
                first_axis[s >> 6] ^= _ONE << np.uint64(s & 63)
                passed += 1
            now = stage[event - begin, 0]
            for w in range(_WORDS):
                now[w] = first_axis[w]
        for axis in range(1, d):
            for event in range(begin, end):
                before, now = stage[event - begin, 1 - (axis & 1)], stage[event - begin, axis & 1]
                x, slot = points[event, axis], slots[event, axis]
                i, j = starts[axis, slot], starts[axis, slot + 1]
                from_above = i < j and at[axis, (i + j) >> 1] <= x
                bitmap = bitmaps[axis, slot + from_above]
                for w in range(_WORDS):
                    now[w] = before[w] & bitmap[w]
                # What flips between the cut and the event, if still in by the attributes before.
                if from_above:
                    j -= 1
                    while j >= i and at[axis, j] > x:
                        s = who[axis, j]
                        now[s >> 6] ^= before[s >> 6] & (_ONE << np.uint64(s & 63))
                        j -= 1
                else:
                    while i < j and at[axis, i] <= x:
                        s = who[axis, i]
                        now[s >> 6] ^= before[s >> 6] & (_ONE << np.uint64(s & 63))
                        i += 1
        for event in range(begin, end):
            now = stage[event - begin, (d - 1) & 1]
            found = 0
            for w in range(_WORDS):
                found += _ones(now[w])
            counts[event] += found
            if first.shape[0] and found and first[event] < 0:
                w = 0
                while now[w] == _ZERO:
                    w += 1
                first[event] = names[64 * w + _lowest(now[w])]
            if members.shape[0] and found:
                _list_bits(now, filled, names, members[offsets[event] : offsets[event] + found])


@kernel
def _lowest(x):
    """The place of the lowest bit that is set."""
    return _ones((x & (~x + _ONE)) - _ONE)


@kernel
def _list_bits(words, filled, names, out):
    """The names of the bits that are set. Most words have none: they are passed over without a branch."""
    count = 0
    for w in range(words.shape[0]):
        filled[count] = w
        count += words[w] != _ZERO
    place = 0
    for k in range(count):
        w = filled[k]
        bits = words[w]
        while bits != _ZERO:
            out[place] = names[64 * w + _lowest(bits)]
            bits &= bits - _ONE
            place += 1


_NONE, _NO_OFFSETS = np.empty(0, np.int32), np.empty(0, np.int64)


class Bitmaps:
    """Closed boxes and events, laid out so that boxes are visited in chunks and events in rising order.

    Examples
    --------
    >>> bitmaps = Bitmaps(np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]]), np.array([[0.5], [0.2]]))
    >>> bitmaps.count().tolist(), bitmaps.first(np.array([7, 8])).tolist()
    ([2, 1], [7, 7])
    >>> sizes, members = bitmaps.list(np.array([7, 8]))
    >>> members.tolist()
    [7, 8, 7]
    """

    def __init__(self, lows: Floats, highs: Floats, points: Floats) -> None:
        self.lows, self.highs = lows, highs
        self._cuts = cut(lows, highs)
        self._order = np.argsort(points[:, 0], kind="stable")
        self._points = np.ascontiguousarray(points[self._order], np.float64)
        self._slots = place(self._cuts, self._points)

    def _chunk(self, start: int) -> Flips:
        return flips(self._cuts, self.lows[start : start + CHUNK], self.highs[start : start + CHUNK])

    def _starts(self) -> range:
        return range(0, len(self.lows), CHUNK)

    def _visit(
        self,
        chunk: Flips,
        events: Integers | slice = slice(None),
        names: Names = _NONE,
        first: Names = _NONE,
        offsets: Integers = _NO_OFFSETS,
        members: Names = _NONE,
    ) -> Integers:
        """How many boxes of a chunk contain each of these events, in this order; see `_visit_chunk`."""
        points, slots = self._points[events], self._slots[events]
        counts = np.zeros(len(points), np.int64)
        _visit_chunk(*chunk, points, slots, counts, names, first, offsets, members)
        return counts

    def count(self, enough: int | None = None) -> Integers:
        """How many boxes contain each event; with `enough`, counting stops at so many or more."""
        counts = np.zeros(len(self._points), np.int64)
        going: slice | Integers = slice(None)
        for start in self._starts():
            counts[going] += self._visit(self._chunk(start), going)
            if enough is not None:
                going = np.flatnonzero(counts < enough)
                if not len(going):
                    break
        return self._unsorted(counts)

    def first(self, names: Names) -> Names:
        """The name of the first box that contains each event; -1 where none does."""
        found = np.full(len(self._points), -1, names.dtype)
        going = np.arange(len(found))
        for start in self._starts():
            now = found[going]
            self._visit(self._chunk(start), going, names[start : start + CHUNK], now, members=names[:0])
            found[going] = now
            going = going[now < 0]
            if not len(going):
                break
        return self._unsorted(found)

    def list(self, names: Names) -> tuple[Integers, Names]:
        """How many boxes contain each event, and their names in rising order of boxes, event after event."""
        chunks = [self._chunk(start) for start in self._starts()]
        sizes = self._unsorted(np.sum([self._visit(chunk) for chunk in chunks], axis=0, dtype=np.int64))
        offsets = (np.cumsum(sizes) - sizes)[self._order]
        members = np.empty(int(sizes.sum()), names.dtype)
        for start, chunk in zip(self._starts(), chunks, strict=True):
            own = names[start : start + CHUNK]
            offsets += self._visit(chunk, names=own, first=names[:0], offsets=offsets, members=members)
        return sizes, members

    def _unsorted(self, values: NDArray[Number]) -> NDArray[Number]:
        result = np.empty_like(values)
        result[self._order] = values
        return result
