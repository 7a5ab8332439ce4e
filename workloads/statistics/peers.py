"""Overlapping subscribers and ring links of a sample of peers.

The links of a peer are those that ring selection (Figure 3 of Sub-2-Sub) keeps of all peers that it overlaps:
the links of a converged overlay. Candidates are visited by their distance on the ring; once the peer's box is
covered, no further one is kept. In a large population this is after a few hundred of many thousands.
Selecting in each file first, and then among the selected, gives the same result, so each file is one task.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from sub2sub import select_ring
from sub2sub.kernels.compilation import kernel
from workloads.arrays import Floats, Integers
from workloads.folder import layout
from workloads.folder.layout import Workload
from workloads.spark.tasks import Spark, run_tasks

Box = tuple[Floats, Floats, int]  # low, high, ring ID

_FIRST_LOOK = 512  # nearest candidates that are tried first


def peer_sample(workload: Workload, peers: int = 100, spark: Spark = None) -> pa.Table:
    """Overlapping subscribers and ring links of evenly spaced peers: subscriber, overlaps, links (int64)."""
    spaced = np.linspace(0, workload.subscribers - 1, min(peers, workload.subscribers))
    sampled: Integers = np.unique(spaced.astype(np.int64))
    files = layout.parts(workload.folder.resolve() / "subscriptions", workload.subscribers)
    own = _rows_of(files, workload.names, sampled)
    schema = pa.schema(
        [("peer", pa.int64()), ("overlaps", pa.int64()),
         ("ring_id", pa.list_(pa.int64())), ("ends", pa.list_(pa.float64()))]
    )  # fmt: skip
    task = partial(_candidates, files, workload.names, own, schema)
    found = run_tasks(spark, len(files) if own else 0, task, schema).to_pandas()
    rows = []
    for peer, pieces in found.groupby("peer"):
        ids, ends = (np.concatenate(pieces[name].tolist()) for name in ("ring_id", "ends"))
        lows, highs = np.split(ends.reshape(len(ids), 2 * len(workload.names)), 2, axis=1)
        chosen = _chosen(own[int(peer)], lows, highs, ids)
        rows.append((peer, pieces["overlaps"].sum(), len(chosen)))
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return pa.table(dict(zip(("subscriber", "overlaps", "links"), columns, strict=True)))


def _rows_of(files: list[Path], names: list[str], sampled: Integers) -> dict[int, Box]:
    """Low, high and ring ID of some subscribers."""
    own: dict[int, Box] = {}
    for number in np.unique(sampled // layout.ROWS_PER_FILE).tolist():
        subscriber, ring_id, lows, highs = layout.read_subscriptions(files[number], names)
        for peer in sampled[sampled // layout.ROWS_PER_FILE == number].tolist():
            row = peer - int(subscriber[0])
            own[peer] = (lows[row], highs[row], int(ring_id[row]))
    return own


def _candidates(
    files: list[Path], names: list[str], own: dict[int, Box], schema: pa.Schema, number: int
) -> pa.Table:
    """How many subscribers in a file each sampled peer overlaps, and which of them it would select."""
    subscriber, ring_id, lows, highs = layout.read_subscriptions(files[number], names)
    rows = []
    for peer, (low, high, own_id) in own.items():
        near = overlapping(lows, highs, low, high)
        near = near[subscriber[near] != peer]
        kept = near[_chosen((low, high, own_id), lows[near], highs[near], ring_id[near])]
        ends = np.concatenate([lows[kept], highs[kept]], axis=1)
        rows.append({"peer": peer, "overlaps": len(near), "ring_id": ring_id[kept], "ends": ends.ravel()})
    return pa.Table.from_pylist(rows, schema=schema)


@kernel
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
