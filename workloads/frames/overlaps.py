"""Overlapping subscribers and ring links of a sample of peers.

The links of a peer are those that ring selection (Figure 3 of Sub-2-Sub) keeps of all peers that it
overlaps: the links of a converged overlay. Candidates are visited by their distance on the ring; once the
peer's box is covered, no further one is kept. In a large population this is after a few hundred of many
thousands. Selecting in each block first, and then among the selected, gives the same result, so each block
is for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sub2sub import select_ring
from sub2sub.plain_numba import jitted
from workloads.arrays import Floats, Integers
from workloads.frames import blocks
from workloads.frames.blocks import Batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Box = tuple[Floats, Floats, int]  # low, high, ring ID

_FIRST_LOOK = 512  # nearest candidates that are tried first


def overlaps(subscriptions: DataFrame, peers: int = 100) -> DataFrame:
    """What a sample of subscribers overlaps and links to: subscriber long, overlaps long, links long.

    The sample is drawn by a hash of `subscriber`, so it is the same for any partitions.
    """
    from pyspark.sql import functions as f

    names = blocks.attributes(subscriptions)
    columns = ["subscriber", "ring_id", *(f"{name}_{end}" for name in names for end in ("low", "high"))]
    rows = blocks.ranges(subscriptions, "ring_id")
    sample = rows.orderBy(f.xxhash64("subscriber"), "subscriber").limit(peers).toArrow()
    (lows, highs), size = blocks.boxes(sample, names), blocks.ROWS
    ids = zip(sample["subscriber"].to_pylist(), sample["ring_id"].to_pylist(), strict=True)
    own = {peer: (lows[row], highs[row], ring_id) for row, (peer, ring_id) in enumerate(ids)}

    def select(batches: Batches) -> Iterator[pa.RecordBatch]:
        for table in blocks.gathered(batches, size):
            subscriber, ring_id = (table[name].to_numpy() for name in ("subscriber", "ring_id"))
            lows, highs = blocks.boxes(table, names)
            for peer, (low, high, own_id) in own.items():
                near = overlapping(lows, highs, low, high)
                near = near[subscriber[near] != peer]
                kept = near[_chosen((low, high, own_id), lows[near], highs[near], ring_id[near])]
                chosen = table.take(kept).select(columns)
                yield blocks.row(peer=peer, overlaps=len(near), chosen=blocks.to_bytes(chosen))

    def reduce(table: pa.Table) -> pa.Table:
        peer = table["peer"][0].as_py()
        chosen = pa.concat_tables([blocks.from_bytes(piece) for piece in table["chosen"]])
        lows, highs = blocks.boxes(chosen, names)
        links = _chosen(own[peer], lows, highs, chosen["ring_id"].to_numpy())
        counts = {"overlaps": [sum(table["overlaps"].to_pylist())], "links": [len(links)]}
        return pa.table({"subscriber": [peer]} | counts)

    pieces = rows.mapInArrow(select, "peer long, overlaps long, chosen binary")
    return pieces.groupBy("peer").applyInArrow(reduce, "subscriber long, overlaps long, links long")


@jitted
def overlapping(lows, highs, low, high):
    """Rows of the closed boxes that overlap a closed box."""
    found = np.empty(lows.shape[0], np.int64)
    count = 0
    for row in range(lows.shape[0]):
        near = True
        for axis in range(lows.shape[1]):
            near &= (lows[row, axis] <= high[axis]) & (highs[row, axis] >= low[axis])
        found[count] = row
        count += near
    return found[:count].copy()


def _chosen(own: Box, lows: Floats, highs: Floats, ids: Integers) -> Integers:
    """Rows of the candidates that ring selection keeps."""
    up = np.argsort(ids.astype(np.uint64) - np.uint64(own[2]), kind="stable")
    return np.union1d(_side(own, lows, highs, ids, up, True), _side(own, lows, highs, ids, up[::-1], False))


def _side(own: Box, lows: Floats, highs: Floats, ids: Integers, order: Integers, upward: bool) -> Integers:
    """Rows kept in one direction. Four times as many of the nearest are tried until they cover the box."""
    low, high, own_id = own
    # An artificial last candidate with the peer's own box is kept unless the others cover the box.
    last = np.uint64((own_id - 1 if upward else own_id + 1) % 2**64)
    look = _FIRST_LOOK
    while True:
        seen = order[:look]
        numbers = ids[seen].astype(np.uint64)
        whole = look >= len(order) or last in numbers
        if whole:
            seen, numbers = order, ids[order].astype(np.uint64)
            boxes = lows[seen], highs[seen], numbers
        else:
            boxes = np.vstack([lows[seen], low]), np.vstack([highs[seen], high]), np.append(numbers, last)
        found = select_ring(low, high, own_id, *boxes)
        kept = found.successors if upward else found.predecessors
        if whole or not (kept == len(seen)).any():
            return seen[kept]
        look *= 4
