"""How many subscribers match each event: blocks of subscriptions paired with blocks of events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from workloads.frames import blocks
from workloads.frames.blocks import Batches
from workloads.match.bitmaps import Bitmaps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EVENTS = 2**17  # of a block, at most


def match_counts(subscriptions: DataFrame, events: DataFrame, enough: int | None = None) -> DataFrame:
    """How many subscriptions contain each event: event long, matches long.

    Parameters
    ----------
    subscriptions : DataFrame
        subscriber, X_low, X_high for each attribute X; other columns are not used.
    events : DataFrame
        event, X; each event once.
    enough : int, optional
        Counting may stop here: a number of `enough` or more means at least `enough`.
    """
    from pyspark.sql import functions as f

    names, rows = blocks.attributes(subscriptions), blocks.ROWS

    def pack(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in blocks.gathered(batches, rows):
            yield blocks.row(boxes=blocks.to_bytes(table))

    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        for pair in blocks.each_row(batches):
            boxes, points = blocks.from_bytes(pair["boxes"]), blocks.from_bytes(pair["points"])
            index = Bitmaps(*blocks.boxes(boxes, names), blocks.matrix(points, names))
            numbers = points["event"].combine_chunks()
            yield pa.record_batch([numbers, index.count(enough)], ["event", "matches"])

    packed = blocks.ranges(subscriptions).mapInArrow(pack, "boxes binary")
    pairs = packed.crossJoin(f.broadcast(blocks.tiles(events, names, _EVENTS)))
    parts = pairs.mapInArrow(count, "event long, matches long")
    # An event has a count even if there is no subscription at all.
    none = events.select(f.col("event").cast("long").alias("event"), f.lit(0).cast("long").alias("matches"))
    return none.unionAll(parts).groupBy("event").agg(f.sum("matches").alias("matches"))
