"""Load of each subscriber: on how many rings it is, and how many distinct successors it has on them.

Links are divided among tasks by subscriber, as arrays: an array is moved at a tenth of the cost of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sub2sub.plain_numba import jitted
from workloads.arrays import Integers
from workloads.frames.blocks import Batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHARE_BITS = 4  # links are divided into 16 shares, by the subscriber's hash
_MIX = 0x9E3779B97F4A7C15  # Fibonacci hashing, as subscribers may be consecutive numbers


def loads(rings: DataFrame) -> DataFrame:
    """The load of every subscriber that is on a ring: subscriber long, rings long, successors long."""

    def divide(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ring = batch.column(batch.schema.get_field_index("ring"))
            members = ring.flatten().to_numpy(zero_copy_only=False)
            sizes = np.diff(ring.offsets.to_numpy())
            offsets = np.cumsum(sizes)
            successor = np.empty_like(members)
            successor[:-1] = members[1:]
            there = sizes > 0
            successor[offsets[there] - 1] = members[(offsets - sizes)[there]]
            counts, subscribers, successors = divided(members.copy(), successor)
            ends = np.append(0, np.cumsum(counts)).astype(np.int32)
            arrays = [pa.ListArray.from_arrays(ends, column) for column in (subscribers, successors)]
            yield pa.record_batch([np.arange(len(counts)), *arrays], ["share", "subscriber", "successor"])

    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        held: dict[int, list[tuple[Integers, Integers]]] = {}
        for batch in batches:
            for place, share in enumerate(batch.column(0).to_pylist()):
                links = [batch.column(k)[place].values.to_numpy(zero_copy_only=False) for k in (1, 2)]
                held.setdefault(share, []).append((links[0], links[1]))
        for share in list(held):
            pieces = held.pop(share)
            subscribers, successors = (np.concatenate(side) for side in zip(*pieces, strict=True))
            names, owner = numbered(subscribers)
            others, other = numbered(successors)
            columns = [names, *distinct(owner, len(names), other, len(others))]
            yield pa.record_batch(columns, ["subscriber", "rings", "successors"])

    shares = "share long, subscriber array<long>, successor array<long>"
    divided_rows = rings.select("ring").mapInArrow(divide, shares).repartition("share")
    return divided_rows.mapInArrow(count, "subscriber long, rings long, successors long")


@jitted
def divided(subscriber, successor):
    """Links sorted by share: links of each share, their subscribers and their successors."""
    shares = 1 << _SHARE_BITS
    counts = np.zeros(shares, np.int64)
    for number in subscriber:
        counts[(np.uint64(number) * np.uint64(_MIX)) >> np.uint64(64 - _SHARE_BITS)] += 1
    place = np.cumsum(counts) - counts
    subscribers, successors = np.empty_like(subscriber), np.empty_like(successor)
    for row in range(subscriber.shape[0]):
        share = (np.uint64(subscriber[row]) * np.uint64(_MIX)) >> np.uint64(64 - _SHARE_BITS)
        subscribers[place[share]], successors[place[share]] = subscriber[row], successor[row]
        place[share] += 1
    return counts, subscribers, successors


@jitted
def numbered(values):
    """The distinct values, and for each value its place among them: a hash table with open addressing."""
    bits = 1
    while (1 << bits) < 2 * values.shape[0]:
        bits += 1
    mask = (1 << bits) - 1
    table = np.full(1 << bits, -1, np.int64)
    names, number = np.empty(values.shape[0], np.int64), np.empty(values.shape[0], np.int64)
    known = 0
    for row in range(values.shape[0]):
        at = np.int64((np.uint64(values[row]) * np.uint64(_MIX)) >> np.uint64(64 - bits))
        while table[at] >= 0 and names[table[at]] != values[row]:
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = known
            names[known] = values[row]
            known += 1
        number[row] = table[at]
    return names[:known].copy(), number


@jitted
def distinct(owner, owners, other, others):
    """How many links each owner has, and to how many distinct others."""
    sizes, found = np.zeros(owners, np.int64), np.zeros(owners, np.int64)
    for number in owner:
        sizes[number] += 1
    place = np.cumsum(sizes) - sizes
    together = np.empty_like(other)  # the others of one owner after those of another
    for row in range(owner.shape[0]):
        together[place[owner[row]]] = other[row]
        place[owner[row]] += 1
    seen_by = np.full(others, -1, np.int64)
    row = 0
    for number in range(owners):
        while row < place[number]:
            found[number] += seen_by[together[row]] != number
            seen_by[together[row]] = number
            row += 1
    return sizes, found
