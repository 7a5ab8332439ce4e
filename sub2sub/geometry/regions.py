"""The minimal regions of the space, and the subscriptions that contain each (Sub-2-Sub, Section 3).

The union of all subscriptions is partitioned into regions S_1 .. S_M such that a subscription that overlaps a
region contains all of it, with M as small as possible. Two points may be in one region exactly if the same
subscriptions contain them. So M is minimal if all points with the same members form *one* region, connected
or not; a region is a list of disjoint boxes. The paper does not say whether regions have to be connected;
that M is minimal implies that they need not be.

The boxes result from cutting the space at range ends, attribute by attribute: within a slab of the first
attributes, the next attribute is cut only where a subscription of that slab begins or ends. For n
subscriptions that all overlap, the number of boxes grows as (2n)^d. The boxes are therefore counted first,
without storing them, and a population that would need more than `max_bytes` is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, closed, normalise
from sub2sub.geometry.matching import Indices, Members
from sub2sub.plain_numba import jitted
from sub2sub.tables import Table, shown


@dataclass(frozen=True, repr=False)
class Regions:
    """M regions, numbered in the order of their first box.

    Attributes
    ----------
    members : Members
        ``members.of(m)``: the subscriptions that contain region m, by row number.
    lows, highs : (boxes, d) float64
        Disjoint boxes, as closed ranges, region by region.
    offsets : (M + 1,) int64
        Region m consists of the boxes ``offsets[m]`` to ``offsets[m + 1]``.
    """

    members: Members
    lows: Floats
    highs: Floats
    offsets: Indices

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        """One line."""
        return f"<{len(self)} regions of {len(self.lows)} boxes>"

    def _repr_html_(self) -> str:
        """For a notebook: how many subscriptions contain each region, and of how many boxes it consists."""
        columns = {
            "region": np.arange(len(self)),
            "subscriptions": self.members.sizes(),
            "boxes": np.diff(self.offsets),
        }
        return shown(repr(self), Table(columns))

    def boxes(self, region: int) -> tuple[Floats, Floats]:
        """The boxes of one region, as closed ranges."""
        part = slice(self.offsets[region], self.offsets[region + 1])
        return self.lows[part], self.highs[part]


def minimal_regions(lows: ArrayLike, highs: ArrayLike, max_bytes: int = 2**30) -> Regions:
    """Partition the union of n subscriptions into the smallest number of regions with equal members.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges of the subscriptions.
    max_bytes : int
        The largest size of the result. It is computed before anything is stored, as if every box were a
        region: 16 d + 8 bytes per box, and 8 for each of its members.

    Raises
    ------
    InputError
        If the result might exceed `max_bytes`; or as `normalise` does.

    Examples
    --------
    >>> regions = minimal_regions([[0.0], [2.0]], [[9.0], [5.0]])
    >>> [regions.members.of(m).tolist() for m in range(len(regions))]
    [[0], [0, 1]]
    >>> [low.ravel().tolist() for low, _ in map(regions.boxes, range(len(regions)))]
    [[0.0, 5.000000000000001], [2.0]]
    """
    low, high = normalise(lows, highs)
    d = low.shape[1]
    boxes, entries = _count(low.T.copy(), high.T.copy(), _start(len(low), d), max_bytes)
    if boxes * _box_bytes(d) + entries * 8 > max_bytes:
        raise InputError(
            f"lows: expected subscriptions whose regions fit into max_bytes = {max_bytes}, got {len(low)} "
            f"of {d} attributes that take more: stopped counting at {boxes} boxes with {entries} members"
        )
    cells, offsets, members = _partition(low.T.copy(), high.T.copy(), _start(len(low), d), boxes, entries)
    number: dict[bytes, int] = {}  # of the region with these members
    region = np.array(
        [number.setdefault(members[a:b].tobytes(), len(number)) for a, b in pairwise(offsets.tolist())],
        np.int64,
    )
    order = np.argsort(region, kind="stable")
    starts = np.searchsorted(region[order], np.arange(len(number) + 1))
    held = [np.frombuffer(one, np.int64) for one in number]
    sizes = np.cumsum([0, *map(len, held)])
    everybody = np.concatenate([np.empty(0, np.int64), *held])
    return Regions(Members(sizes, everybody), *closed(cells[order, 0], cells[order, 1]), starts)


@jitted
def _box_bytes(d):
    return 16 * d + 8


@jitted
def _count(lows, highs, sweep, max_bytes):
    """The number of boxes and of all their members; counting stops where they exceed `max_bytes`."""
    boxes = entries = 0
    while boxes * _box_bytes(lows.shape[0]) + entries * 8 <= max_bytes and _next_box(lows, highs, sweep):
        boxes += 1
        entries += sweep.size[-1]
    return boxes, entries


@jitted
def _partition(lows, highs, sweep, boxes, entries):
    """The boxes, and the members of each in ascending order (offsets and list)."""
    cells = np.empty((boxes, 2, lows.shape[0]), np.float64)
    by_row = np.arange(lows.shape[1]).astype(np.float64)
    offsets, members = np.zeros(boxes + 1, np.int64), np.empty(entries, np.int64)
    for box in range(boxes):
        _next_box(lows, highs, sweep)
        cells[box] = sweep.slab
        first, size = offsets[box], sweep.size[-1]
        offsets[box + 1] = first + size
        members[first : first + size] = sweep.held[-1, :size]
        _sort(members[first : first + size], by_row)
    return cells, offsets, members


class _Sweep(NamedTuple):
    """The state of nested sweeps: level k sweeps attribute k, within the current slab of level k - 1.

    held[k] are the subscriptions that contain the slab of level k - 1. by_low[k] and by_high[k] sort them by
    their lows and highs along attribute k; begun[k] of them have begun and ended[k] have ended. The current
    slab of level k goes from slab[0, k] to slab[1, k]; held[k + 1] are the subscriptions that contain it, and
    place[k + 1] is the position of each in held[k + 1]. The members of a box are held[d].
    """

    held: Indices
    place: Indices
    size: Indices
    by_low: Indices
    by_high: Indices
    begun: Indices
    ended: Indices
    slab: Floats
    level: Indices


def _start(n: int, d: int) -> _Sweep:
    """The state before the first box; begun[k] = -1 means that level k is not sorted yet."""
    sweep = _Sweep(
        held=np.zeros((d + 1, n), np.int64),
        place=np.zeros((d + 1, n), np.int64),
        size=np.zeros(d + 1, np.int64),
        by_low=np.zeros((d, n), np.int64),
        by_high=np.zeros((d, n), np.int64),
        begun=np.full(d, -1, np.int64),
        ended=np.zeros(d, np.int64),
        slab=np.zeros((2, d), np.float64),
        level=np.zeros(1, np.int64),
    )
    sweep.held[0] = np.arange(n)
    sweep.size[0] = n
    return sweep


@jitted
def _next_box(lows, highs, sweep):
    """Move to the next box that some subscription contains; whether there is one."""
    last = lows.shape[0] - 1
    level = sweep.level[0]
    while level >= 0:
        if sweep.begun[level] < 0:
            _sort_ends(lows, highs, level, sweep)
        if sweep.ended[level] == sweep.size[level]:
            sweep.begun[level] = -1
            level -= 1
            continue
        _next_slab(lows, highs, level, sweep)
        if sweep.size[level + 1] > 0:
            if level == last:
                break
            level += 1
    sweep.level[0] = level
    return level >= 0


@jitted
def _sort_ends(lows, highs, level, sweep):
    size = sweep.size[level]
    sweep.by_low[level, :size] = sweep.held[level, :size]
    sweep.by_high[level, :size] = sweep.held[level, :size]
    _sort(sweep.by_low[level, :size], lows[level])
    _sort(sweep.by_high[level, :size], highs[level])
    sweep.begun[level] = sweep.ended[level] = sweep.size[level + 1] = 0


@jitted
def _sort(items, keys):
    """Sort items by their keys, in place: a heap sort, as numba's own takes seconds to compile."""
    size = items.shape[0]
    for step in range(size // 2 + size - 1):
        if step < size // 2:  # build the heap from its lowest parents up
            root, end = size // 2 - 1 - step, size
        else:  # move the largest behind the heap
            root, end = 0, size - 1 - (step - size // 2)
            items[0], items[end] = items[end], items[0]
        item = items[root]
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and keys[items[child]] < keys[items[child + 1]]:
                child += 1
            if keys[items[child]] <= keys[item]:
                break
            items[root] = items[child]
            root = child
        items[root] = item


@jitted
def _next_slab(lows, highs, level, sweep):
    """Move to the next slab along one attribute, and update the subscriptions that contain it."""
    total = sweep.size[level]
    by_low, by_high = sweep.by_low[level], sweep.by_high[level]
    held, place = sweep.held[level + 1], sweep.place[level + 1]
    begun, ended, size = sweep.begun[level], sweep.ended[level], sweep.size[level + 1]

    low = highs[level, by_high[ended]]
    if begun < total:
        low = min(low, lows[level, by_low[begun]])
    while ended < begun and highs[level, by_high[ended]] == low:
        gone, last = by_high[ended], held[size - 1]
        held[place[gone]] = last
        place[last] = place[gone]
        size -= 1
        ended += 1
    while begun < total and lows[level, by_low[begun]] == low:
        held[size] = by_low[begun]
        place[by_low[begun]] = size
        size += 1
        begun += 1
    high = low
    if ended < total:
        high = highs[level, by_high[ended]]
        if begun < total:
            high = min(high, lows[level, by_low[begun]])

    sweep.slab[0, level], sweep.slab[1, level] = low, high
    sweep.begun[level], sweep.ended[level], sweep.size[level + 1] = begun, ended, size
