"""Load of each subscriber: on how many rings it is, and how many distinct successors it has on them.

There may be a thousand times as many links as subscribers, so links never leave the task that finds them. An
arc (`workloads.frames.rings`) has all links of its subscribers but those out of it: at most one for each
event. These are found from the ends of all arcs, and each goes back to the arc in which it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sub2sub.plain_numba import jitted
from workloads.arrays import Floats, Integers
from workloads.frames import blocks
from workloads.frames.blocks import Batches
from workloads.frames.rings import arcs, paired, slices
from workloads.match.bitmap_chunks import CHUNK
from workloads.match.bitmaps import Bitmaps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MEMBERS = 2**22  # of a chunk's rings, listed at a time, about
_SHARES = 16  # of the events: the arcs' ends of one share are joined at a time
_ALL = 2**31  # events are one block


def loads(subscriptions: DataFrame, events: DataFrame) -> DataFrame:
    """The load of every subscriber that is on a ring: subscriber long, rings long, successors long.

    Parameters are as of `rings`.
    """
    names = blocks.attributes(subscriptions)

    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        for arc, table, points in paired(batches):
            rows, at = blocks.boxes(table, names), blocks.matrix(points, names)
            rings, successors, first, last = arc_loads(*rows, at)
            subscriber = table["subscriber"].to_numpy()
            own = pa.table([subscriber, rings, successors], ["subscriber", "rings", "successors"])
            yield blocks.row(share=arc % _SHARES, arc=arc, block=blocks.to_bytes(own))
            ends = pa.table([subscriber[first], last], ["first", "last"])
            for share in range(_SHARES):
                part = ends.take(np.arange(share, len(ends), _SHARES))
                yield blocks.row(share=share, arc=arc, block=blocks.to_bytes(part))

    def join(batches: Batches) -> Iterator[pa.RecordBatch]:
        for _, rows in blocks.grouped(batches, "share"):
            ends: dict[int, pa.Table] = {}
            for row in rows:
                table = blocks.from_bytes(row["block"])
                if "first" in table.column_names:
                    ends[row["arc"].as_py()] = table
                else:
                    yield blocks.row(arc=row["arc"].as_py(), block=row["block"].as_py())
            following = np.array(-1)
            for turn in range(2):  # the last arc's successors are in the first one that has any
                for arc in sorted(ends, reverse=True):
                    first, last = (ends[arc][name].to_numpy() for name in ("first", "last"))
                    there = last >= 0
                    if turn:
                        links = pa.table([last[there], following[there]], ["place", "successor"])
                        yield blocks.row(arc=arc, block=blocks.to_bytes(links))
                    following = np.where(there, first, following)

    def add(batches: Batches) -> Iterator[pa.RecordBatch]:
        for _, rows in blocks.grouped(batches, "arc"):
            tables = [blocks.from_bytes(row["block"]) for row in rows]
            (own,) = (table for table in tables if "rings" in table.column_names)
            links = pa.concat_tables(table for table in tables if "place" in table.column_names)
            more = np.zeros(len(own), np.int64)
            for place in links.group_by(["place", "successor"]).aggregate([])["place"].to_numpy():
                more[place] += 1
            there = own["rings"].to_numpy() > 0
            columns = [own["subscriber"], own["rings"], own["successors"].to_numpy() + more]
            table = pa.table(columns, own.column_names).filter(pa.array(there))
            yield from table.combine_chunks().to_batches()

    pairs = arcs(subscriptions, events, _ALL)
    shares = pairs.mapInArrow(count, "share long, arc long, block binary")
    joined = blocks.by(shares, "share").mapInArrow(join, "arc long, block binary")
    return blocks.by(joined, "arc").mapInArrow(add, "subscriber long, rings long, successors long")


def arc_loads(lows: Floats, highs: Floats, points: Floats) -> tuple[Integers, Integers, Integers, Integers]:
    """The loads within an arc whose boxes are in ring order.

    Returns
    -------
    rings, successors : (n,) int64
        On how many rings each is, and how many distinct successors it has on them in this arc.
    first, last : (events,) int64
        The row of the first and of the last member of each ring; -1 if there is none.

    Examples
    --------
    >>> lows, highs = np.zeros((3, 1)), np.array([[1.0], [3.0], [3.0]])
    >>> found = arc_loads(lows, highs, np.array([[0.5], [0.7], [2.0], [4.0]]))
    >>> [values.tolist() for values in found]
    [[2, 3, 3], [1, 1, 0], [0, 0, 1, -1], [2, 2, 2, -1]]
    """
    bitmaps = Bitmaps(lows, highs, points)
    events = [*slices(lows, highs, points, _MEMBERS * -(-len(lows) // CHUNK))]
    rings, successors = np.zeros((2, len(lows)), np.int64)
    first, last = np.full((2, len(points)), -1, np.int64)
    rows = np.arange(len(lows), dtype=np.int32)
    for chunk in bitmaps.chunks(backwards=True):
        own = rows[chunk.rows]
        starts, targets = np.zeros(len(own) + 1, np.int64), rows[:0]
        for some in events:
            found = bitmaps.members(chunk, rows, some)
            ends = first[some], last[some]
            starts, targets = _linked(*found, own[0], len(rows), *ends, rings[chunk.rows], starts, targets)
        successors[chunk.rows] = np.diff(starts)
    return rings, successors, bitmaps.unsorted(first), bitmaps.unsorted(last)


@jitted
def _linked(counts, members, base, size, first, last, rings, starts, targets):
    """Add the links of some rings to the distinct ones of a chunk, as the places of successors by owner.

    `first` has the first member of each ring in later chunks, and gets that in this one.
    """
    owners = rings.shape[0]
    place = np.zeros(owners + 1, np.int64)
    for member in members:
        place[member - base + 1] += 1
    for owner in range(owners):
        rings[owner] += place[owner + 1]
        place[owner + 1] += place[owner] + starts[owner + 1] - starts[owner]
    begin, longer = place.copy(), np.empty(place[owners], np.int32)
    for owner in range(owners):
        for k in range(starts[owner], starts[owner + 1]):
            longer[place[owner]] = targets[k]
            place[owner] += 1
    k = 0
    for event in range(counts.shape[0]):
        end = k + counts[event]
        if k == end:
            continue
        start = members[k]
        while k + 1 < end:
            owner = members[k] - base
            longer[place[owner]] = members[k + 1]
            place[owner] += 1
            k += 1
        owner = members[k] - base
        if first[event] < 0:
            last[event] = members[k]
        else:
            longer[place[owner]] = first[event]
            place[owner] += 1
        first[event] = start
        k += 1
    # Each target of an owner once.
    seen = np.full(size, -1, np.int32)
    distinct, kept = np.zeros(owners + 1, np.int64), 0
    for owner in range(owners):
        for k in range(begin[owner], place[owner]):
            target = longer[k]
            if seen[target] != owner:
                seen[target] = owner
                longer[kept] = target
                kept += 1
        distinct[owner + 1] = kept
    return distinct, longer[:kept].copy()
