"""Subscriptions, events, topics and churn of a spec: a row is a pure function of (seed, row).

So the rows are the same for any partitions, on any machine, and the same as `spec.subscriptions(n, seed)` and
`spec.events(...)` give as arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.frames.blocks import Batches
from workloads.frames.matches import match_counts
from workloads.generate import rows
from workloads.generate.churn_table import churn_table
from workloads.generate.rows import BLOCK
from workloads.generate.topic_ranges import TopicRanges, last_below
from workloads.generate.topics import depth
from workloads.spec.spec import Spec, check_seed, refuse_sparse

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_FIRST = 4096  # candidates of events that are tried at least
_BLOCKS = 16  # of a task, so that a written file has about a million rows


def _rows(spark: SparkSession, count: int, schema: str, draw: Callable[[int, int], pa.Table]) -> DataFrame:
    """The rows [0, count): `draw(start, stop)` returns some of them. A task gets numbers of blocks."""
    if count < 0:
        raise InputError(f"rows = {count}: expected a number of at least 0")

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for block in batch.column(0).to_pylist():
                table = draw(block * BLOCK, min(count, (block + 1) * BLOCK))
                yield from table.combine_chunks().to_batches()

    blocks = math.ceil(count / BLOCK)
    return spark.range(0, blocks, 1, max(2, math.ceil(blocks / _BLOCKS))).mapInArrow(work, schema)


def subscriptions(spark: SparkSession, spec: Spec, count: int, seed: int) -> DataFrame:
    """The first `count` subscriptions of a spec: subscriber, ring_id, X_low, X_high for each attribute X."""
    check_seed(seed)
    ends = [f"{name}_{end}" for name in spec.names for end in ("low", "high")]

    def draw(start: int, stop: int) -> pa.Table:
        lows, highs = spec.rows(seed, start, stop)
        sides = [side[:, axis] for axis in range(lows.shape[1]) for side in (lows, highs)]
        columns = [np.arange(start, stop), rows.ring_ids(seed, start, stop), *sides]
        return pa.table(columns, ["subscriber", "ring_id", *ends])

    schema = ", ".join(["subscriber long", "ring_id long", *(f"{end} double" for end in ends)])
    return _rows(spark, count, schema, draw)


def candidates(spark: SparkSession, spec: Spec, count: int, seed: int) -> DataFrame:
    """The first `count` candidate events, with or without matching subscribers: event, X."""
    check_seed(seed)

    def draw(start: int, stop: int) -> pa.Table:
        columns = [np.arange(start, stop), *spec.candidates(seed, start, stop).T]
        return pa.table(columns, ["event", *spec.names])

    schema = ", ".join(["event long", *(f"{name} double" for name in spec.names)])
    return _rows(spark, count, schema, draw)


def events(subscriptions: DataFrame, spec: Spec, count: int, seed: int, at_least: int = 2) -> DataFrame:
    """The first `count` candidates that at least `at_least` subscribers match, numbered anew: event, X.

    Unless `at_least` is 0, jobs run until enough candidates are accepted, each with as many more as the share
    accepted so far suggests. The accepted ones are cached.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    spark = subscriptions.sparkSession
    if at_least <= 0 or not count:
        return candidates(spark, spec, count, seed)
    found, tried = 0, max(_FIRST, count + count // 8)
    while True:
        drawn = candidates(spark, spec, tried, seed)
        counts = match_counts(subscriptions, drawn, enough=at_least).where(f.col("matches") >= at_least)
        accepted = drawn.join(counts.select("event"), "event", "left_semi").cache()
        if (found := accepted.count()) >= count:
            break
        accepted.unpersist()
        refuse_sparse(found, tried, at_least, subscriptions.count())
        tried = math.ceil(max(4 * tried, 1.1 * count * tried / max(1, found)))
    first = accepted.orderBy("event").limit(count)
    number = (f.row_number().over(Window.orderBy("event")) - 1).cast("long")
    return first.select(number.alias("event"), *spec.names)


def topics(spark: SparkSession, spec: TopicRanges) -> DataFrame:
    """The topics of a topic workload, depth first: topic, path, last, depth."""
    paths = spec.topics.topics
    return topic_rows(spark, paths)


def topic_rows(spark: SparkSession, paths: tuple[str, ...]) -> DataFrame:
    """Topics in depth-first order as rows: topic, path, last, depth."""
    depths = np.array([depth(path) for path in paths], np.int64)
    columns = [np.arange(len(paths)), pa.array(paths, pa.string()), last_below(paths), depths]
    return spark.createDataFrame(pa.table(columns, ["topic", "path", "last", "depth"]))


def churn(spark: SparkSession, spec: Spec, count: int, cycles: int, seed: int) -> DataFrame:
    """The churn of `count` subscribers: cycle, subscriber, kind, version, X_low, X_high from then on."""
    law = spec.churn
    if law is None or cycles < 1:
        raise InputError(f"cycles = {cycles}: expected a number above 0 and a spec with churn")
    ends = ", ".join(f"{name}_{end} double" for name in spec.names for end in ("low", "high"))
    return _rows(
        spark, count, f"cycle long, subscriber long, kind string, version long, {ends}",
        lambda start, stop: churn_table(law, stop - start, cycles, seed, start, spec),
    )  # fmt: skip


def ring_ids(subscriptions: DataFrame, *key: str | Column, seed: int = 0) -> DataFrame:
    """Subscriptions with a column ring_id: 63 random bits, a pure function of the seed and the key.

    Parameters
    ----------
    key : columns
        What identifies a subscriber on every machine and on every day; `subscriber` if not given.
    """
    from pyspark.sql import functions as f

    drawn = f.xxhash64(f.lit(seed), *(key or ("subscriber",)))
    return subscriptions.withColumn("ring_id", f.shiftrightunsigned(drawn, 1))
