"""The ring of each event: one row with its matching subscribers by rising ring ID (Sub-2-Sub, Section 3).

There may be a thousand times as many matches as subscribers, so matches are never sorted. Subscriptions are
shuffled into *arcs*, ranges of ring IDs, and sorted. The index lists an arc's part of every ring in ring
order, and a ring is its parts, arc after arc. Work is proportional to arcs only in their number: the
kernels list as many events at a time as give about two million members, so neither many events, nor an
event that everybody matches, nor a hot range of an attribute needs more memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from workloads.arrays import Floats
from workloads.frames import blocks
from workloads.frames.blocks import Batches
from workloads.match.bitmaps import Bitmaps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EVENTS = 2**14  # of a block, at most
_MEMBERS = 2**21  # listed at a time, about
_SAMPLE = 64  # events from which the number of members is estimated
_ARC_BITS = 5  # of the 63 bits of a ring ID: 32 arcs


def rings(subscriptions: DataFrame, events: DataFrame) -> DataFrame:
    """Every ring that is not empty: event long, ring array<long>.

    Parameters
    ----------
    subscriptions : DataFrame
        subscriber, ring_id (random, 63 bits; see `ring_ids`), X_low, X_high for each attribute X. Equal
        ring IDs are ordered by subscriber.
    events : DataFrame
        event, X; each event once.
    """
    from pyspark.sql import functions as f

    names, most = blocks.attributes(subscriptions), _MEMBERS

    def part(batches: Batches) -> Iterator[pa.RecordBatch]:
        for arc, table, points in paired(batches):
            lows, highs = blocks.boxes(table, names)
            subscriber = table["subscriber"].to_numpy().copy()
            at, event = blocks.matrix(points, names), points["event"].to_numpy()
            for some in slices(lows, highs, at, most):
                sizes, members = Bitmaps(lows, highs, at[some]).list(subscriber)
                there = sizes > 0
                offsets = np.append(0, np.cumsum(sizes[there])).astype(np.int32)
                parts = pa.ListArray.from_arrays(offsets, members)
                numbers = np.full(len(parts), arc, np.int64)
                yield pa.record_batch([event[some][there], numbers, parts], ["event", "arc", "part"])

    parts = arcs(subscriptions, events, _EVENTS).mapInArrow(part, "event long, arc long, part array<long>")
    in_order = f.sort_array(f.collect_list(f.struct("arc", "part")))
    found = parts.groupBy("event").agg(in_order.alias("parts"))
    return found.select("event", f.flatten("parts.part").alias("ring"))


def arcs(subscriptions: DataFrame, events: DataFrame, most: int) -> DataFrame:
    """Blocks of subscriptions by arc, followed by the events in blocks of `most`, for `paired`."""
    from pyspark.sql import functions as f

    def split(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in blocks.gathered(batches, blocks.ROWS):
            arc = table["ring_id"].to_numpy() >> (63 - _ARC_BITS)
            ordered, ends = table.take(np.argsort(arc)), np.cumsum(np.bincount(arc)).tolist()
            for number, (start, end) in enumerate(itertools.pairwise([0, *ends])):
                if start < end:
                    part = blocks.to_bytes(ordered.slice(start, end - start))
                    yield blocks.row(arc=number, is_tile=False, block=part)

    schema = "arc long, is_tile boolean, block binary"
    parts = blocks.ranges(subscriptions, "ring_id").mapInArrow(split, schema)
    every = f.explode(f.lit(list(range(2**_ARC_BITS))).cast("array<long>"))
    tiles = blocks.tiles(events, blocks.attributes(subscriptions), most)
    return blocks.by(parts.unionAll(tiles.select(every, f.lit(True), "points")), "arc", "is_tile")


def paired(batches: Batches) -> Iterator[tuple[int, pa.Table, pa.Table]]:
    """Each arc's number and subscriptions in ring order, with each block of events."""
    for arc, rows in blocks.grouped(batches, "arc"):
        parts: list[pa.Table] = []
        ordered = None
        for row in rows:
            if not row["is_tile"].as_py():
                parts.append(blocks.from_bytes(row["block"]))
            elif parts:
                ordered = ordered or _in_ring_order(pa.concat_tables(parts))
                yield arc, ordered, blocks.from_bytes(row["block"])


def _in_ring_order(table: pa.Table) -> pa.Table:
    ring_id, subscriber = (table[name].to_numpy() for name in ("ring_id", "subscriber"))
    order = np.argsort(ring_id)
    if (np.diff(ring_id[order]) == 0).any():
        order = np.lexsort((subscriber, ring_id))
    return table.take(order)


def slices(lows: Floats, highs: Floats, points: Floats, most: int) -> Iterator[slice]:
    """Ranges of events with about `most` matches each."""
    sample = points[:: max(1, len(points) // _SAMPLE)]
    matches = Bitmaps(lows, highs, sample).count().mean()
    step = max(1, int(most / max(matches, 1.0)))
    return (slice(start, start + step) for start in range(0, len(points), step))


def ring_links(rings: DataFrame) -> DataFrame:
    """The links of rings: event long, subscriber long, successor long; the last one's successor is the first.

    Rows of a ring are in ring order.
    """
    from pyspark.sql import functions as f

    ring = f.col("ring")
    following = f.concat(f.slice(ring, 2, f.size(ring)), f.slice(ring, 1, 1))
    zipped = f.arrays_zip(ring.alias("subscriber"), following.alias("successor"))
    return rings.select("event", f.inline(zipped).alias("subscriber", "successor"))
