"""Blocks: many rows of a DataFrame as one binary value, an Arrow stream.

The indexes want a million boxes and thousands of events at once, while Spark moves rows. A DataFrame of
blocks has few rows, so a join pairs each block of subscriptions with each block of events at no cost, and
each pair is one call of a kernel. A join, because Spark Connect has no broadcast variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.arrays import Floats

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 2**18  # of a block of subscriptions, at most
Batches = Iterable[pa.RecordBatch]


def gathered(batches: Batches, rows: int) -> Iterator[pa.Table]:
    """The rows of small batches as tables of `rows` rows; the last one is shorter.

    Examples
    --------
    >>> small = [pa.record_batch({"x": [1, 2]}), pa.record_batch({"x": [3]})]
    >>> [table.num_rows for table in gathered(small, 2)]
    [2, 1]
    """
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        rest = batch
        while count + rest.num_rows >= rows:
            first = rest.slice(0, rows - count)
            yield pa.Table.from_batches([*held, first])
            rest, held, count = rest.slice(first.num_rows), [], 0
        held.append(rest)
        count += rest.num_rows
    if count:
        yield pa.Table.from_batches(held)


def to_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table.combine_chunks())
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


def from_bytes(value: pa.Scalar) -> pa.Table:
    """The table of an Arrow stream, not copied."""
    return pa.ipc.open_stream(value.as_buffer()).read_all()


def row(**values: Any) -> pa.RecordBatch:
    """One row of a DataFrame."""
    return pa.record_batch({name: pa.array([value]) for name, value in values.items()})


def each_row(batches: Batches) -> Iterator[dict[str, pa.Scalar]]:
    """The rows of batches, one at a time."""
    for batch in batches:
        for number in range(batch.num_rows):
            yield {name: batch.column(name)[number] for name in batch.schema.names}


def grouped(batches: Batches, key: str) -> Iterator[tuple[Any, Iterator[dict[str, pa.Scalar]]]]:
    """The rows that follow one another with the same key."""
    yield from groupby(each_row(batches), lambda found: found[key].as_py())


def by(frame: DataFrame, key: str, *then: str) -> DataFrame:
    """The same rows, those with the same key one after another in the same task, in the order of others."""
    return frame.repartition(key).sortWithinPartitions(key, *then)


def matrix(table: pa.Table, columns: Sequence[str]) -> Floats:
    """Columns of numbers as an array (rows, columns); nulls and NaN are refused.

    Kernels refuse Arrow's own arrays, which cannot be written to.
    """
    found = np.empty((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        found[:, place] = table[name].to_numpy()
        if (wrong := np.isnan(found[:, place])).any():
            owner = table.column_names[0]
            number = table[owner][int(np.argmax(wrong))].as_py()
            raise InputError(
                f"{owner} {number}: {name} is null or NaN, expected a number; "
                "frames.checked sets such rows apart"
            )
    return found


def boxes(table: pa.Table, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Lows and highs (rows, d) of subscriptions."""
    lows, highs = (matrix(table, [f"{name}_{end}" for name in names]) for end in ("low", "high"))
    if (wrong := (lows > highs).any(axis=1)).any():
        number = table["subscriber"][int(np.argmax(wrong))].as_py()
        raise InputError(
            f"subscriber {number}: low > high, expected a range; frames.checked sets such rows apart"
        )
    return lows, highs


def attributes(subscriptions: DataFrame) -> list[str]:
    """The attributes of subscriptions: those with a column X_low."""
    return [name.removesuffix("_low") for name in subscriptions.columns if name.endswith("_low")]


def ranges(subscriptions: DataFrame, *others: str) -> DataFrame:
    """The columns of subscriptions that kernels read, with their types: subscriber, others, both ends."""
    names = attributes(subscriptions)
    ends = [f"{name}_{end}" for name in names for end in ("low", "high")]
    return _typed(subscriptions, "subscriptions", ["subscriber", *others], ends)


def points(events: DataFrame, names: Sequence[str]) -> DataFrame:
    """The columns of events that kernels read, with their types: event, one for each attribute."""
    return _typed(events, "events", ["event"], names)


def _typed(frame: DataFrame, what: str, whole: Sequence[str], real: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as f

    for name in (*whole, *real):
        if name not in frame.columns:
            raise InputError(f"{what}: no column {name!r}, expected {', '.join((*whole, *real))}")
    if not real:
        raise InputError(f"{what}: expected columns X_low and X_high for each attribute X")
    longs = [f.col(name).cast("long").alias(name) for name in whole]
    return frame.select(*longs, *(f.col(name).cast("double").alias(name) for name in real))


def tiles(events: DataFrame, names: Sequence[str], rows: int) -> DataFrame:
    """Events in blocks: points binary."""

    def pack(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches, rows):
            yield row(points=to_bytes(table))

    # One task, because all tiles are sent to all workers anyway.
    return points(events, names).coalesce(1).mapInArrow(pack, "points binary")
