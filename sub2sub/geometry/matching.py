"""Matching: which subscriptions contain which events, for whole populations (Sub-2-Sub, Section 2).

The index consists of bitmaps. Each of the most selective attributes is divided into 64 slots with about the
same number of range ends each. Each slot has one bit per subscription, set if its range overlaps the slot. An
event is in one slot of each attribute. The conjunction of the bitmaps of these slots, computed for 64
subscriptions at once, leaves the matches and few other candidates; these are compared with the event exactly.
Time is O(events * subscriptions / 64 + matches); memory is linear in subscriptions and in matches.

For a few events an index does not pay: they are compared with every subscription. All cores are used:
subscriptions are indexed and events looked up in chunks, whose results are concatenated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.threads import share_out
from sub2sub.geometry.boxes import Floats, normalise, points
from sub2sub.plain_numba import jitted

Indices = NDArray[np.int64]

_SLOTS = 64
_INDEXED = 8  # attributes with bitmaps: more would hardly reduce the candidates
_FEW = 64  # for up to so many events an index does not pay
_WORK = 1 << 22  # subscriptions times events in a chunk of work, at least
_SAMPLE = 4096  # size of the samples of range ends and events that attributes and slots are chosen by

_ONE, _ZERO, _S58 = np.uint64(1), np.uint64(0), np.uint64(58)
# The position of a single set bit: multiplied by a de Bruijn sequence, each has other top six bits.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, np.int64)
for _bit in range(64):
    _POSITION[(int(_DE_BRUIJN) << _bit & (1 << 64) - 1) >> 58] = _bit


class Members(NamedTuple):
    """Lists of subscriptions, one per event, concatenated: compressed sparse rows.

    Attributes
    ----------
    offsets : (m + 1,) int64
        The list of event e is ``members[offsets[e] : offsets[e + 1]]``.
    members : int64
        Row numbers of subscriptions.

    Examples
    --------
    >>> Members(np.array([0, 2, 3]), np.array([4, 5, 4])).of(0)
    array([4, 5])
    """

    offsets: Indices
    members: Indices

    def of(self, event: int) -> Indices:
        """The list of one event."""
        return self.members[self.offsets[event] : self.offsets[event + 1]]

    def sizes(self) -> Indices:
        """The lengths of all lists."""
        return np.diff(self.offsets)


def match(lows: ArrayLike, highs: ArrayLike, events: ArrayLike) -> Members:
    """For every event the subscriptions that contain it, in increasing row number.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges; see `sub2sub.geometry.boxes.normalise`.
    events : (m, d) array_like
        Points.

    Returns
    -------
    Members
        `offsets` (m + 1,) and `members`, row numbers into `lows`.

    Raises
    ------
    InputError
        As `normalise` and `points` do.

    Examples
    --------
    >>> matches = match([[0.0], [2.0], [2.0]], [[3.0], [2.0], [9.0]], [[2.0], [5.0]])
    >>> matches.of(0), matches.of(1)
    (array([0, 1, 2]), array([2]))
    """
    low, high = normalise(lows, highs)
    return match_boxes(low, high, points(events, low.shape[1]))


def match_boxes(lows: Floats, highs: Floats, events: Floats) -> Members:
    """`match` for validated half-open boxes and points."""
    index, found = BoxIndex(lows, highs, events), {}

    def part(thread: int, first: int, last: int) -> int:
        found[first] = index.match(events[first:last])
        return last

    share_out(part, [(0, len(events))], least=_WORK // max(len(lows), 1) + 1)
    return _end_to_end([found[first] for first in sorted(found)])


def _end_to_end(parts: list[Members]) -> Members:
    if len(parts) == 1:
        return parts[0]
    sizes = [part.sizes() for part in parts]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]) if parts else np.zeros(1, np.int64)
    return Members(
        offsets.astype(np.int64), np.concatenate([np.empty(0, np.int64), *(p.members for p in parts)])
    )


class BoxIndex:
    """An index of half-open boxes, to match them with batches of events; several threads may use it.

    Parameters
    ----------
    events : (m, d) float64
        The events to be matched: they decide which attributes are selective, and whether an index pays.

    Examples
    --------
    >>> lows, events = np.array([[0.0], [2.0]]), np.array([[1.0], [2.5]])
    >>> BoxIndex(lows, lows + 2.0, events).match(events).sizes()
    array([1, 1])
    """

    def __init__(self, lows: Floats, highs: Floats, events: Floats) -> None:
        self.lows, self.highs = lows, highs
        self.axes = _most_selective(lows, highs, events)[:_INDEXED] if len(events) > _FEW else []
        self.bitmaps = np.zeros((len(self.axes), _SLOTS, (len(lows) + 63) // 64), np.uint64)
        self.cuts = [_cuts(lows[:, axis], highs[:, axis]) for axis in self.axes]
        for bitmap, cuts, axis in zip(self.bitmaps, self.cuts, self.axes, strict=True):
            first = np.searchsorted(cuts, lows[:, axis], side="right")
            last = np.searchsorted(cuts, highs[:, axis], side="left")

            def part(thread: int, begin: int, end: int) -> int:
                _fill(bitmap, first, last, 64 * begin, min(64 * end, len(first)))  # noqa: B023
                return end

            share_out(part, [(0, bitmap.shape[1])], least=_WORK // 4096)

    def match(self, events: Floats) -> Members:
        """For every event the boxes that contain it, in increasing row number."""
        if not self.axes:
            return Members(*_scan(self.lows, self.highs, events))
        slots = np.empty((len(events), len(self.axes)), np.int64)
        for i, (cuts, axis) in enumerate(zip(self.cuts, self.axes, strict=True)):
            slots[:, i] = np.searchsorted(cuts, events[:, axis], side="right")
        return Members(*_look_up(self.bitmaps, slots, self.lows, self.highs, events))


def _sample(values: Floats) -> Floats:
    return np.sort(values[:: max(1, len(values) // _SAMPLE)])


def _most_selective(lows: Floats, highs: Floats, events: Floats) -> list[int]:
    """Attributes by the share of ranges that contain an event's value, smallest first, on a sample."""
    shares = []
    for axis in range(lows.shape[1]):
        values = _sample(events[:, axis])
        started = np.searchsorted(_sample(lows[:, axis]), values, side="right")
        ended = np.searchsorted(_sample(highs[:, axis]), values, side="right")
        shares.append(int((started - ended).sum()))
    return [int(axis) for axis in np.argsort(shares, kind="stable")]


def _cuts(lows: Floats, highs: Floats) -> Floats:
    """At most 63 increasing values that divide the range ends of one attribute into even slots."""
    ends = np.sort(np.concatenate((_sample(lows), _sample(highs))))
    return np.unique(ends[np.arange(1, _SLOTS) * len(ends) // _SLOTS]) if len(ends) else ends


@jitted
def _fill(bitmap, first, last, begin, end):
    """Set the bits of the subscriptions from `begin` to `end` in the slots that their ranges overlap."""
    for s in range(begin, end):
        bit = _ONE << np.uint64(s & 63)
        for slot in range(first[s], last[s] + 1):
            bitmap[slot, s >> 6] |= bit


@jitted
def holds(lows, highs, s, events, e):
    """Whether half-open box s contains event e."""
    inside = True
    for k in range(events.shape[1]):
        inside &= lows[s, k] <= events[e, k] < highs[s, k]
    return inside


@jitted
def with_room(values, size, more):
    """An array with the first `size` values and room for `more` behind them; a longer one if necessary."""
    if size + more <= values.shape[0]:
        return values
    longer = np.empty((2 * size + more,) + values.shape[1:], values.dtype)  # noqa: RUF005
    longer[:size] = values[:size]
    return longer


@jitted
def _scan(lows, highs, events):
    n = lows.shape[0]
    offsets = np.zeros(events.shape[0] + 1, np.int64)
    found = np.empty(n, np.int64)
    size = 0
    for e in range(events.shape[0]):
        found = with_room(found, size, n)
        for s in range(n):
            if holds(lows, highs, s, events, e):
                found[size] = s
                size += 1
        offsets[e + 1] = size
    return offsets, found[:size].copy()


@jitted
def _look_up(bitmaps, slots, lows, highs, events):
    n = lows.shape[0]
    offsets = np.zeros(events.shape[0] + 1, np.int64)
    candidates = np.empty(bitmaps.shape[2], np.uint64)
    found = np.empty(n, np.int64)
    size = 0
    for e in range(events.shape[0]):
        found = with_room(found, size, n)
        # One pass per attribute, not per word: the compiler can process several words at once.
        candidates[:] = bitmaps[0, slots[e, 0]]
        for i in range(1, bitmaps.shape[0]):
            row = bitmaps[i, slots[e, i]]
            for word in range(candidates.shape[0]):
                candidates[word] &= row[word]
        for word in range(candidates.shape[0]):
            bits = candidates[word]
            while bits != _ZERO:
                lone = bits & (~bits + _ONE)
                bits ^= lone
                s = (word << 6) + _POSITION[(lone * _DE_BRUIJN) >> _S58]
                if holds(lows, highs, s, events, e):
                    found[size] = s
                    size += 1
        offsets[e + 1] = size
    return offsets, found[:size].copy()


@jitted
def first_match(lows, highs, order, events):
    """The first box in `order` that contains each event, or -1."""
    first = np.full(events.shape[0], -1, np.int64)
    for e in range(events.shape[0]):
        for s in order:
            if holds(lows, highs, s, events, e):
                first[e] = s
                break
    return first
