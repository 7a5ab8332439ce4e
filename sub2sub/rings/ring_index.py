"""RingIndex: all subscriptions of a broker, a gateway or a shard, with the rings that they form.

Subscriptions are stored in rows, the latest last. An index of bitmaps (`sub2sub.geometry.matching`) covers
the older rows; those added since are compared one by one, and rows of the removed are passed over. When there
are more than a quarter of either, the index is made anew: an addition or a removal costs a few operations on
arrays. Results name subscriptions by their place in `ids`, which is the order of the ring.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.threads import share_out
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import Floats, normalise, points
from sub2sub.geometry.matching import BoxIndex, Indices, Members
from sub2sub.rings.identifiers import Identifiers, sequence_ids
from sub2sub.rings.selection import as_rows

_WAITING = 1024  # changes that a small index may have before it is made anew
_CHUNK = 256  # subscriptions whose ring links are computed at a time
_FILES = ("boxes", "ids")


class RingLinks(NamedTuple):
    """The ring links of all subscriptions, nearest first: `successors.of(i)` and `predecessors.of(i)`.

    Both are offsets and members (`sub2sub.geometry.matching.Members`); members are places in `RingIndex.ids`.
    """

    successors: Members
    predecessors: Members


class RingIndex:
    """Subscriptions by sequence ID: whose ring an event is on, and who is linked to whom.

    Parameters
    ----------
    lows, highs : (n, d) array_like
        Closed ranges; see `sub2sub.geometry.boxes.normalise`.
    ids : (n,) array_like of int
        Sequence IDs, unsigned 64-bit, all different.

    Examples
    --------
    >>> index = RingIndex([[0], [4], [0]], [[5], [10], [10]], [60, 70, 80])
    >>> index.ring([4.5]), index.ring([9])
    (array([60, 70, 80], dtype=uint64), array([70, 80], dtype=uint64))
    >>> index.add([[3]], [[4]], [65])
    >>> index.remove([80])
    >>> index.links(60)
    (array([65, 70], dtype=uint64), array([70, 65], dtype=uint64))
    """

    def __init__(self, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike) -> None:
        low, high = normalise(lows, highs)
        self._start(as_rows(low, high), sequence_ids(ids, len(low)))

    def _start(self, boxes: Floats, row_ids: Identifiers) -> None:
        self._boxes, self._row_ids, self._used = boxes, row_ids, len(boxes)
        self._rows = np.argsort(row_ids)  # the row of each place
        self.ids: Identifiers = row_ids[self._rows]
        self._indexed: BoxIndex | None = None
        self._covered = 0  # rows that the index of bitmaps covers
        self._forget()

    def _forget(self) -> None:
        """Forget what was derived from the subscriptions as they were."""
        self._in_order: Floats | None = None  # the boxes by place
        self._places: Indices | None = None  # the place of each row, -1 for rows of the removed

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<RingIndex of {len(self)} subscriptions, {self.attributes} attributes>"

    @property
    def attributes(self) -> int:
        """How many attributes a subscription has."""
        return int(self._boxes.shape[1] // 2)

    def add(self, lows: ArrayLike, highs: ArrayLike, ids: ArrayLike) -> None:
        """Add subscriptions, all of them or none.

        Raises
        ------
        InputError
            As `normalise` does; for IDs that are there already; with the row.
        """
        low, high = normalise(lows, highs)
        if low.shape[1] != self.attributes:
            raise InputError(f"lows: expected {self.attributes} attributes, got {low.shape[1]}")
        added = sequence_ids(ids, len(low))
        if len(rows := np.flatnonzero(self._are_known(added))):
            raise InputError(f"ids row {rows[0]}: expected a new ID, got {added[rows[0]]} again")
        first, last = self._used, self._used + len(added)
        if last > len(self._boxes):
            more = max(last, 2 * first) - first
            self._boxes = np.concatenate([self._boxes[:first], np.empty((more, low.shape[1] * 2))])
            self._row_ids = np.concatenate([self._row_ids[:first], np.empty(more, np.uint64)])
        self._boxes[first:last], self._row_ids[first:last] = as_rows(low, high), added
        self._used = last
        order = np.argsort(added)
        places = np.searchsorted(self.ids, added[order])
        self.ids = np.insert(self.ids, places, added[order])
        self._rows = np.insert(self._rows, places, first + order)
        self._forget()

    def remove(self, ids: ArrayLike) -> None:
        """Remove subscriptions, all of them or none; an unknown ID is an `InputError`."""
        places = self._place(ids)
        self.ids, self._rows = np.delete(self.ids, places), np.delete(self._rows, places)
        self._forget()

    def _are_known(self, ids: Identifiers) -> NDArray[np.bool_]:
        places = np.minimum(np.searchsorted(self.ids, ids), max(len(self) - 1, 0))
        return self.ids[places] == ids if len(self) else np.zeros(len(ids), bool)

    def _place(self, ids: ArrayLike) -> Indices:
        asked = sequence_ids(ids, len(np.atleast_1d(ids)))
        if len(rows := np.flatnonzero(~self._are_known(asked))):
            raise InputError(f"ids row {rows[0]}: expected the ID of a subscription, got {asked[rows[0]]}")
        return np.searchsorted(self.ids, asked)

    def match(self, events: ArrayLike) -> Members:
        """For every event its ring: the places in `ids` of the subscriptions that contain it, in ring order.

        Examples
        --------
        >>> index = RingIndex([[0], [4]], [[5], [10]], [70, 60])
        >>> rings = index.match([[4.5], [0]])
        >>> index.ids[rings.of(0)], index.ids[rings.of(1)]
        (array([60, 70], dtype=uint64), array([70], dtype=uint64))
        """
        at, older = points(events, self.attributes), self._index()
        matches = older.match(at)
        if self._used == len(self) == self._covered:  # rows are places
            return matches
        if self._places is None:
            self._places = np.full(self._used, -1)
            self._places[self._rows] = np.arange(len(self))
        newer = self._boxes[self._covered : self._used]
        late = BoxIndex(newer[:, ::2], newer[:, 1::2], at[:0]).match(at)
        events_of = np.arange(len(at)).repeat(matches.sizes()), np.arange(len(at)).repeat(late.sizes())
        whose = np.concatenate(events_of)
        places = self._places[np.concatenate([matches.members, late.members + self._covered])]
        stays = places >= 0
        # By event, then by place: these are two lists in this order, which a stable sort just merges.
        keys = np.sort(whose[stays] * len(self) + places[stays], kind="stable")
        offsets = np.searchsorted(keys, np.arange(len(at) + 1) * len(self))
        return Members(offsets, keys % max(len(self), 1))

    def ring(self, event: ArrayLike) -> Identifiers:
        """The IDs of the subscriptions that contain an event, in ring order: after the last the first."""
        return self.ids[self.match(np.atleast_2d(event)).members]

    def _index(self) -> BoxIndex:
        """The index of the older rows, made anew, in ring order, after many changes."""
        changes = self._used - min(len(self), self._covered)
        if self._indexed is None or changes > max(_WAITING, len(self) // 4):
            self._start(self._boxes[self._rows], self.ids)
            lows, ends = self._boxes[:, ::2].copy(), self._boxes[:, 1::2].copy()
            self._indexed, self._covered = BoxIndex(lows, ends, lows), len(self)
        return self._indexed

    def ring_links(self) -> RingLinks:
        """The ring neighbours of every subscription among all others: Figure 3 for each of them.

        Examples
        --------
        >>> links = RingIndex([[0], [4], [0]], [[5], [10], [10]], [60, 70, 80]).ring_links()
        >>> links.successors.of(0), links.predecessors.of(0)
        (array([1, 2]), array([2]))
        """
        return self._links(0, len(self))

    def _links(self, first: int, last: int, without: int = -1) -> RingLinks:
        """The ring links of the places from `first` to `last`, as if place `without` were not there."""
        from sub2sub.rings.many import needed_by_each, room

        if self._in_order is None:
            self._in_order = self._boxes[self._rows]
        boxes, n = self._in_order, len(self)
        parts: dict[int, tuple[Indices, Indices]] = {}

        def part(thread: int, begin: int, end: int) -> int:
            memory, upwards = room(n, boxes.shape[1]), np.empty(n, np.int64)
            members = np.empty(2 * n + 128 * _CHUNK, np.int64)
            while begin < end:
                sizes = np.empty(2 * min(_CHUNK, end - begin), np.int64)
                until = needed_by_each(
                    boxes, begin, begin + len(sizes) // 2, without, sizes, members, upwards, memory
                )
                sizes = sizes[: 2 * (until - begin)]
                parts[begin], begin = (sizes, members[: sizes.sum()].copy()), until
            return end

        share_out(part, [(first, last)], least=_CHUNK)
        sizes = np.concatenate([np.empty(0, np.int64), *(parts[begin][0] for begin in sorted(parts))])
        members = np.concatenate([np.empty(0, np.int64), *(parts[begin][1] for begin in sorted(parts))])
        way = np.repeat(np.arange(len(sizes)) % 2, sizes)
        return RingLinks(
            *(Members(np.concatenate([[0], np.cumsum(sizes[k::2])]), members[way == k]) for k in range(2))
        )

    def links(self, id: int) -> tuple[Identifiers, Identifiers]:
        """The IDs of one subscription's successors and predecessors, nearest first."""
        place = int(self._place([id])[0])
        links = self._links(place, place + 1)
        return self.ids[links.successors.members], self.ids[links.predecessors.members]

    def what_changes_without(self, id: int) -> NDArray[np.uint64]:
        """The links that close the rings if a subscription goes, an (n, 2) array of IDs: node, new successor.

        The successor has the node as a new predecessor. Links to the subscription itself just end.

        Examples
        --------
        >>> index = RingIndex([[0], [0], [0], [0]], [[9], [9], [9], [9]], [60, 70, 80, 90])
        >>> index.what_changes_without(70)
        array([[60, 80]], dtype=uint64)
        """
        place = int(self._place([id])[0])
        new = []
        for node in np.unique(self._links(place, place + 1).predecessors.members):
            before = self._links(node, node + 1).successors.members
            after = self._links(node, node + 1, without=place).successors.members
            new += [(self.ids[node], self.ids[other]) for other in np.setdiff1d(after, before)]
        return np.array(new, np.uint64).reshape(-1, 2)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the subscriptions to a folder, which `RingIndex.load` maps into memory."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for name, values in zip(_FILES, (self._boxes[self._rows], self.ids), strict=True):
            np.save(place / f"{name}.npy", values)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> RingIndex:
        """Open the subscriptions of a folder without reading them; changes to them stay in memory."""
        index = cls.__new__(cls)
        try:
            boxes, ids = (np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in _FILES)
        except (OSError, ValueError) as problem:
            raise InputError(f"{folder}: expected a saved RingIndex, got {problem}") from None
        index._start(boxes, ids)
        return index
