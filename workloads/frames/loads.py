"""Load of each subscriber: on how many rings it is, and how many distinct successors it has on them.

Links are divided among tasks by subscriber, as blocks: moving an array costs ten times as much as moving its
bytes, and rows a hundred times. A task counts the links of one share of the subscribers at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sub2sub.plain_numba import jitted
from workloads.frames import blocks
from workloads.frames.blocks import Batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHARE_BITS = 6  # links are divided into 64 shares, by the subscriber's hash
_PART = 2**14  # links that are counted at a time, about: their tables fit into a processor's cache
_MIX = 0x9E3779B97F4A7C15  # Fibonacci hashing, as subscribers may be consecutive numbers
_OTHER = 0xC2B2AE3D27D4EB4F


def loads(rings: DataFrame) -> DataFrame:
    """The load of every subscriber that is on a ring: subscriber long, rings long, successors long."""

    def divide(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ring = batch.column(batch.schema.get_field_index("ring"))
            members = ring.flatten().to_numpy(zero_copy_only=False)
            if not len(members):
                continue
            # Numbers of subscribers are short, as a rule, and half of the bytes are half of the costs.
            is_short = members.min() >= 0 and members.max() < 2**31
            members = members.astype(np.int32 if is_short else np.int64)
            sizes = np.diff(ring.offsets.to_numpy())
            offsets = np.cumsum(sizes)
            successor = np.empty_like(members)
            successor[:-1] = members[1:]
            there = sizes > 0
            successor[offsets[there] - 1] = members[(offsets - sizes)[there]]
            ends, *links = divided(members, successor, 0, _SHARE_BITS)
            table = pa.table(links, ["subscriber", "successor"])
            for share, (start, stop) in enumerate(pairwise(ends.tolist())):
                yield blocks.row(share=share, links=blocks.to_bytes(table.slice(start, stop - start)))

    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        for _, rows in groupby(blocks.each_row(batches), lambda row: row["share"].as_py()):
            tables = [blocks.from_bytes(row["links"]) for row in rows]
            links = pa.concat_tables(tables, promote_options="permissive")
            # Copies, because kernels refuse Arrow's own arrays.
            columns = list(counted(*(column.to_numpy().copy() for column in links.columns)))
            yield pa.record_batch(columns, ["subscriber", "rings", "successors"])

    shares = rings.select("ring").mapInArrow(divide, "share long, links binary")
    in_order = shares.repartition("share").sortWithinPartitions("share")
    return in_order.mapInArrow(count, "subscriber long, rings long, successors long")


@jitted
def divided(subscriber, successor, before, bits):
    """Links sorted by some bits of the subscriber's hash, after `before` others.

    Returns the first link of each of the 2^bits parts and the number of links, subscribers, successors.
    """
    ends = np.zeros((1 << bits) + 1, np.int64)
    if not bits:
        ends[1] = subscriber.shape[0]
        return ends, subscriber, successor
    left, right = np.uint64(before), np.uint64(64 - bits)
    for number in subscriber:
        ends[1 + np.int64(((np.uint64(number) * np.uint64(_MIX)) << left) >> right)] += 1
    ends = np.cumsum(ends)
    place = ends.copy()
    subscribers, successors = np.empty_like(subscriber), np.empty_like(successor)
    for row in range(subscriber.shape[0]):
        part = np.int64(((np.uint64(subscriber[row]) * np.uint64(_MIX)) << left) >> right)
        subscribers[place[part]], successors[place[part]] = subscriber[row], successor[row]
        place[part] += 1
    return ends, subscribers, successors


@jitted
def counted(subscriber, successor):
    """The distinct subscribers of links, the number of links of each, and of its distinct successors.

    Two hash tables with open addressing for each part of the links: of subscribers, and of pairs.
    """
    bits = 0
    while _PART << bits < subscriber.shape[0]:
        bits += 1
    ends, subscriber, successor = divided(subscriber, successor, _SHARE_BITS, bits)
    names, links = np.empty(subscriber.shape[0], np.int64), np.zeros(subscriber.shape[0], np.int64)
    different = np.zeros(subscriber.shape[0], np.int64)
    known = 0
    for part in range(1 << bits):
        size = 1
        while (1 << size) < 2 * (ends[part + 1] - ends[part]):
            size += 1
        mask, left, right = (1 << size) - 1, np.uint64(_SHARE_BITS + bits), np.uint64(64 - size)
        owners, pairs = np.full(1 << size, -1, np.int64), np.full(1 << size, -1, np.int64)
        for row in range(ends[part], ends[part + 1]):
            hashed = np.uint64(subscriber[row]) * np.uint64(_MIX)
            at = np.int64((hashed << left) >> right)
            while owners[at] >= 0 and names[owners[at]] != subscriber[row]:
                at = (at + 1) & mask
            if owners[at] < 0:
                owners[at] = known
                names[known] = subscriber[row]
                known += 1
            owner = owners[at]
            links[owner] += 1
            at = np.int64(((hashed ^ np.uint64(successor[row])) * np.uint64(_OTHER)) >> right)
            while pairs[at] >= 0 and (
                subscriber[pairs[at]] != subscriber[row] or successor[pairs[at]] != successor[row]
            ):
                at = (at + 1) & mask
            if pairs[at] < 0:
                pairs[at] = row
                different[owner] += 1
    return names[:known].copy(), links[:known].copy(), different[:known].copy()
