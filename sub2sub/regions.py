"""The minimal regions of the space and who is in each (Sub-2-Sub, Section 3).

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

from sub2sub.boxes import Floats, closed, normalise
from sub2sub.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.matching import Indices, Members
from sub2sub.randomness import mix

__all__ = ["Regions", "minimal_regions"]


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
    boxes, entries = _count(low, high, max_bytes)
    if boxes * _box_bytes(d) + entries * 8 > max_bytes:
        raise InputError(
            f"lows: expected subscriptions whose regions fit into max_bytes = {max_bytes}, got {len(low)} "
            f"of {d} attributes that take more: stopped counting at {boxes} boxes with {entries} members"
        )
    cells, region, offsets, members = _partition(low, high, boxes, entries)
    order = np.argsort(region, kind="stable")
    starts = np.searchsorted(region[order], np.arange(len(offsets)))
    return Regions(Members(offsets, members), *closed(cells[order, 0], cells[order, 1]), starts)


@kernel
def _box_bytes(d):
    return 16 * d + 8


@kernel
def _count(lows, highs, max_bytes):
    """The number of boxes and of all their members, or where these exceed `max_bytes`."""
    sweep = _start(lows.shape[0], lows.shape[1])
    boxes = entries = 0
    while boxes * _box_bytes(lows.shape[1]) + entries * 8 <= max_bytes and _next_box(lows, highs, sweep):
        boxes += 1
        entries += sweep.size[-1]
    return boxes, entries


@kernel
def _partition(lows, highs, boxes, entries):
    """The boxes, the region of each, and the members of each region (offsets and list)."""
    sweep = _start(lows.shape[0], lows.shape[1])
    cells = np.empty((boxes, 2, lows.shape[1]), np.float64)
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
        region_of[box] = _region(
            table, sweep.held[-1], sweep.place[-1], sweep.size[-1], offsets, members, regions
        )
        regions = max(regions, region_of[box] + 1)
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


@kernel
def _start(n, d):
    held = np.empty((d + 1, n), np.int64)
    size = np.zeros(d + 1, np.int64)
    held[0] = np.arange(n)
    size[0] = n
    return _Sweep(
        held,
        np.empty((d + 1, n), np.int64),
        size,
        np.empty((d, n), np.int64),
        np.empty((d, n), np.int64),
        np.full(d, -1, np.int64),  # not sorted yet
        np.zeros(d, np.int64),
        np.empty((2, d), np.float64),
        np.zeros(1, np.int64),
    )


@kernel
def _next_box(lows, highs, sweep):
    """Move on to the next box that someone holds; whether there is one."""
    last = lows.shape[1] - 1
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
    held = sweep.held[level, :size]
    sweep.by_low[level, :size] = held[np.argsort(lows[held, level])]
    sweep.by_high[level, :size] = held[np.argsort(highs[held, level])]
    sweep.begun[level] = sweep.ended[level] = sweep.size[level + 1] = 0


@kernel
def _next_slab(lows, highs, level, sweep):
    """Move on to the next range end along one attribute, and update who holds the slab that begins there."""
    total = sweep.size[level]
    by_low, by_high = sweep.by_low[level], sweep.by_high[level]
    held, place = sweep.held[level + 1], sweep.place[level + 1]
    begun, ended, size = sweep.begun[level], sweep.ended[level], sweep.size[level + 1]

    low = highs[by_high[ended], level]
    if begun < total:
        low = min(low, lows[by_low[begun], level])
    while ended < begun and highs[by_high[ended], level] == low:
        gone, last = by_high[ended], held[size - 1]
        held[place[gone]] = last
        place[last] = place[gone]
        size -= 1
        ended += 1
    while begun < total and lows[by_low[begun], level] == low:
        held[size] = by_low[begun]
        place[by_low[begun]] = size
        size += 1
        begun += 1
    high = low
    if ended < total:
        high = highs[by_high[ended], level]
        if begun < total:
            high = min(high, lows[by_low[begun], level])

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
    members[first : first + size] = np.sort(held[:size])
    return regions
