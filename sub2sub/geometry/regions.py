"""The minimal regions of the space and the subscriptions in each (Sub-2-Sub, Section 3).

The union of all subscriptions falls into disjoint parts S_1 .. S_M such that a subscription that meets a part
holds all of it, with M as small as possible. Two points may share a part exactly if the same subscriptions
contain them. So M is minimal when all points with the same members form *one* region, connected or not,
and a region is a list of disjoint boxes. The paper leaves connectedness open; minimality decides it.

The boxes come from cutting the space at the range ends attribute by attribute: within a slab of the first
attributes, the next is cut only where a subscription of that slab begins or ends. Their number grows as
(2n)^d for n subscriptions that all overlap. It is counted first, without storing anything, and a population
that would need more than `max_bytes` is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, closed, normalise
from sub2sub.geometry.matching import Indices, Members
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import mix


@dataclass(frozen=True)
class Regions:
    """M regions, numbered in the order of their first box.

    Attributes
    ----------
    members : Members
        ``members.of(m)``: the subscriptions that hold region m, by row number.
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

    def boxes(self, region: int) -> tuple[Floats, Floats]:
        """The boxes of one region, as closed ranges."""
        part = slice(self.offsets[region], self.offsets[region + 1])
        return self.lows[part], self.highs[part]


def minimal_regions(lows: ArrayLike, highs: ArrayLike, max_bytes: int = 2**30) -> Regions:
    """Partition what n subscriptions cover into the fewest regions of equal membership.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges of the subscriptions.
    max_bytes : int
        What the result may take at most. It is reckoned before anything is stored, as if no two boxes were
        of one region: 16 d + 8 bytes for a box and 8 for each of its members.

    Raises
    ------
    InputError
        The result might exceed `max_bytes`; or as `normalise` does.

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
    found = _partition(low.T.copy(), high.T.copy(), _start(len(low), d), boxes, entries)
    cells, region, offsets, members = found
    order = np.argsort(region, kind="stable")
    starts = np.searchsorted(region[order], np.arange(len(offsets)))
    return Regions(Members(offsets, members), *closed(cells[order, 0], cells[order, 1]), starts)


@kernel
def _box_bytes(d):
    return 16 * d + 8


@kernel
def _count(lows, highs, sweep, max_bytes):
    """The number of boxes and of all their members, or where these exceed `max_bytes`."""
    boxes = entries = 0
    while boxes * _box_bytes(lows.shape[0]) + entries * 8 <= max_bytes and _next_box(lows, highs, sweep):
        boxes += 1
        entries += sweep.size[-1]
    return boxes, entries


@kernel
def _partition(lows, highs, sweep, boxes, entries):
    """The boxes, the region of each, and the members of each region (offsets and list)."""
    cells = np.empty((boxes, 2, lows.shape[0]), np.float64)
    by_row = np.arange(lows.shape[1]).astype(np.float64)
    region_of = np.empty(boxes, np.int64)
    offsets = np.zeros(boxes + 1, np.int64)
    members = np.empty(entries, np.int64)
    capacity = 2
    while capacity < 2 * boxes:
        capacity *= 2
    table = np.full(capacity, -1, np.int64)
    regions = 0
    for box in range(boxes):
        _next_box(lows, highs, sweep)
        cells[box] = sweep.slab
        region = _region(table, sweep.held[-1], sweep.place[-1], sweep.size[-1], offsets, members, regions)
        if region == regions:
            _sort(members[offsets[region] : offsets[region + 1]], by_row)
            regions += 1
        region_of[box] = region
    return cells, region_of, offsets[: regions + 1].copy(), members[: offsets[regions]].copy()


class _Sweep(NamedTuple):
    """A sweep along each attribute within the slabs of the one before; level k sweeps attribute k.

    The ranges of held[k] begin in the order by_low[k] and end in the order by_high[k]; begun[k] and ended[k]
    of them have. held[k + 1] are those that hold the current slab, from slab[0, k] to slab[1, k], and
    place[k + 1] says where in held[k + 1] each of them stands. The members of a box are held[d].
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
    """Before the first box; a level that has begun -1 ranges is not sorted yet."""
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


@kernel
def _next_box(lows, highs, sweep):
    """Move on to the next box that someone holds; whether there is one."""
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


@kernel
def _sort_ends(lows, highs, level, sweep):
    size = sweep.size[level]
    sweep.by_low[level, :size] = sweep.held[level, :size]
    sweep.by_high[level, :size] = sweep.held[level, :size]
    _sort(sweep.by_low[level, :size], lows[level])
    _sort(sweep.by_high[level, :size], highs[level])
    sweep.begun[level] = sweep.ended[level] = sweep.size[level + 1] = 0


@kernel
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


@kernel
def _next_slab(lows, highs, level, sweep):
    """Move on to the next range end along one attribute, and update who holds the slab that begins there."""
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


@kernel
def _region(table, held, place, size, offsets, members, regions):
    """The region with exactly these members, known or new; `table` is a hash table with open addressing."""
    key = np.uint64(size)
    for i in range(size):
        key ^= mix(held[i])
    slot = np.int64(key & np.uint64(table.shape[0] - 1))
    while table[slot] >= 0:
        first, last = offsets[table[slot]], offsets[table[slot] + 1]
        same = last - first == size
        while same and first < last:
            s = members[first]
            # Places are not cleared; one is valid if it points back.
            same = 0 <= place[s] < size and held[place[s]] == s
            first += 1
        if same:
            return table[slot]
        slot = (slot + 1) & (table.shape[0] - 1)
    table[slot] = regions
    first = offsets[regions]
    offsets[regions + 1] = first + size
    members[first : first + size] = held[:size]
    return regions
