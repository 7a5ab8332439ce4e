"""Matches by bitmaps: one bit per subscription, which flips at the ends of its range.

Subscriptions are taken 8,192 at a time, so that their index stays in a processor's cache. For a value of an
attribute, a bit per subscription tells whether its range contains the value. As the value grows, the bit
*flips* where the range begins and after its end. Events are sorted by the first attribute, whose bitmap is
updated by its flips. The other attributes have a bitmap at each of 512 cuts; the bitmap of an event is the
one at the nearer cut, with the few flips in between applied. The conjunction of the attributes' bitmaps is
counted 64 bits at a time. No subscription is compared with an event, so the time is about
events * subscriptions / 64, for wide ranges and narrow ones.

`benchmarks/matching.py` compares this with a vectorised scan and with sorted ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from workloads.arrays import Floats, Integers, Names
from workloads.match.bitmap_chunks import CHUNK, SLOTS, put_together, visit_chunk

_SAMPLE = 8192

Slots = NDArray[np.int16]
Number = TypeVar("Number", bound=np.signedinteger[Any])
Flips = tuple[Floats, NDArray[np.int16], Integers]


class Chunk(NamedTuple):
    """Some boxes, and their index."""

    rows: slice
    flips: Flips


def cut(lows: Floats, highs: Floats) -> Floats:
    """The cuts of each attribute, (d, SLOTS - 1), from a sample of the flips.

    A value at which more ranges begin or end than a slot's share (an exact value, the end of the axis) is a
    cut, so that its flips are in the bitmap; the other cuts are even quantiles of the rest.

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
    """The slot (rows, d) of each point: slot k is [cuts[k - 1], cuts[k])."""
    slots = [np.searchsorted(cuts[axis], points[:, axis], side="right") for axis in range(len(cuts))]
    return np.stack(slots, axis=1).astype(np.int16)


def flips(cuts: Floats, lows: Floats, highs: Floats) -> Flips:
    """The flips along each attribute: their values in order, their boxes, and the first flip of each slot.

    Examples
    --------
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.75], [1.0]])
    >>> at, box, starts = flips(cut(lows, highs), lows, highs)
    >>> at.round(9).tolist(), box.tolist(), starts[0, :4].tolist()
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


_NONE = np.empty(0, np.int32)


class Bitmaps:
    """An index of closed boxes, visited in chunks, and events, visited in rising order.

    Examples
    --------
    >>> bitmaps = Bitmaps(np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]]), np.array([[0.5], [0.2]]))
    >>> sizes, members = bitmaps.list(np.array([7, 8]))
    >>> bitmaps.count().tolist(), members.tolist()
    ([2, 1], [7, 8, 7])
    """

    def __init__(self, lows: Floats, highs: Floats, points: Floats) -> None:
        self.lows, self.highs = lows, highs
        self._cuts = cut(lows, highs)
        self._order = np.argsort(points[:, 0], kind="stable")
        self._points = np.ascontiguousarray(points[self._order], np.float64)
        self._slots = place(self._cuts, self._points)
        self._space = 64 * len(points)  # for members of a chunk, at first

    def chunks(self, backwards: bool = False) -> Iterator[Chunk]:
        """The boxes in chunks of CHUNK, each with its index."""
        starts = range(0, len(self.lows), CHUNK)
        for start in reversed(starts) if backwards else starts:
            rows = slice(start, start + CHUNK)
            yield Chunk(rows, flips(self._cuts, self.lows[rows], self.highs[rows]))

    def _visit(
        self, chunk: Chunk, events: Integers | slice, names: Names = _NONE, members: Names = _NONE
    ) -> Integers:
        """How many boxes of a chunk contain each of these events, in this order; see `visit_chunk`."""
        points, slots = self._points[events], self._slots[events]
        counts = np.zeros(len(points), np.int64)
        visit_chunk(*chunk.flips, points, slots, counts, names, members)
        return counts

    def count(self, enough: int | None = None) -> Integers:
        """How many boxes contain each event; with `enough`, counting stops at this number or above."""
        counts = np.zeros(len(self._points), np.int64)
        going: slice | Integers = slice(None)
        for chunk in self.chunks():
            counts[going] += self._visit(chunk, going)
            if enough is not None:
                going = np.flatnonzero(counts < enough)
                if not len(going):
                    break
        return self.unsorted(counts)

    def members(self, chunk: Chunk, names: Names, events: slice = slice(None)) -> tuple[Integers, Names]:
        """How many boxes of a chunk contain each of these events, and their names, event after event.

        Events are in the order in which they are visited, see `unsorted`.
        """
        while True:
            space = np.empty(self._space, names.dtype)
            counts = self._visit(chunk, events, names[chunk.rows], space)
            if (needed := int(counts.sum())) <= len(space):
                return counts, space[:needed]
            self._space = needed * 9 // 8  # chunks are like each other, so for most of them this is enough

    def list(self, names: Names) -> tuple[Integers, Names]:
        """How many boxes contain each event, and their names in rising order of boxes, event after event."""
        found = [self.members(chunk, names) for chunk in self.chunks()]
        counts = np.array([of_chunk for of_chunk, _ in found], np.int64).reshape(
            len(found), len(self._points)
        )
        sizes = self.unsorted(counts.sum(axis=0))
        members = np.empty(int(sizes.sum()), names.dtype)
        listed = np.concatenate([names[:0], *(of_chunk for _, of_chunk in found)])
        put_together(listed, counts, (np.cumsum(sizes) - sizes)[self._order], members)
        return sizes, members

    def unsorted(self, values: NDArray[Number]) -> NDArray[Number]:
        """Values of events in the order in which they are visited, in the order in which they were given."""
        result = np.empty_like(values)
        result[self._order] = values
        return result


def count_matches(lows: Floats, highs: Floats, points: Floats, enough: int | None = None) -> Integers:
    """How many closed boxes contain each point.

    Parameters
    ----------
    enough : int, optional
        Counting may stop here: a count of `enough` or more means at least `enough`.

    Examples
    --------
    >>> import numpy as np
    >>> lows, highs = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    >>> count_matches(lows, highs, np.array([[0.2], [0.5], [2.0]])).tolist()
    [1, 2, 0]
    """
    return Bitmaps(lows, highs, points).count(enough)
