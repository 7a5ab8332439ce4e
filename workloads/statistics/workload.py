"""What a workload looks like: ring lengths, widths, overlaps, regions, and the ring links that peers need.

Ring lengths come from the counts that `workloads.match.rings` wrote. Overlaps and links are those of a sample
of peers: a peer's links are what ring selection (Figure 3 of Sub-2-Sub) keeps of everybody it overlaps, so
they are the links of a converged overlay. Subscriptions are read file by file, on Spark one file per task.
The regions S_m of Section 3 grow as (2n)^d where subscriptions overlap: they are found for populations whose
regions fit into memory, and refused with the reason for others.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub import select_ring
from sub2sub.errors import InputError
from sub2sub.geometry.regions import minimal_regions
from workloads.folder.layout import ROWS_PER_FILE, Workload, parts, read_subscriptions
from workloads.match.tiles import ring_sizes
from workloads.spark.tasks import run_tasks
from workloads.statistics.folder import write_folder

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["describe", "peer_sample", "regions", "ring_lengths", "ring_loads", "write_statistics"]

Integers = NDArray[np.int64]
Box = tuple[NDArray[np.float64], NDArray[np.float64], int]  # low, high, ring ID
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


def _spread(quantity: str, values: NDArray[Any]) -> dict[str, Any]:
    """One row of the description: how a quantity is spread."""
    row: dict[str, Any] = {"quantity": quantity, "count": len(values)}
    if len(values):
        row |= {"mean": float(values.mean()), "min": float(values.min())}
        row |= {name: float(np.quantile(values, q, method="inverted_cdf")) for name, q in _QUANTILES.items()}
        row["max"] = float(values.max())
    return row


def ring_lengths(workload: Workload) -> pa.Table:
    """How many events have a ring of each length: length int64, events int64."""
    import pyarrow as pa

    length, events = np.unique(ring_sizes(workload), return_counts=True)
    return pa.table({"length": length, "events": events})


def peer_sample(workload: Workload, peers: int = 100, spark: SparkSession | None = None) -> pa.Table:
    """Overlapping subscribers and ring links of evenly spaced peers: subscriber, overlaps, links (int64)."""
    import pyarrow as pa

    spaced = np.linspace(0, workload.subscribers - 1, min(peers, workload.subscribers))
    sampled: Integers = np.unique(spaced.astype(np.int64))
    files = parts(workload.folder.resolve() / "subscriptions", workload.subscribers)
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
    for number in np.unique(sampled // ROWS_PER_FILE).tolist():
        subscriber, ring_id, lows, highs = read_subscriptions(files[number], names)
        for peer in sampled[sampled // ROWS_PER_FILE == number].tolist():
            row = peer - int(subscriber[0])
            own[peer] = (lows[row], highs[row], int(ring_id[row]))
    return own


def _candidates(
    files: list[Path], names: list[str], own: dict[int, Box], schema: pa.Schema, number: int
) -> pa.Table:
    """How many subscribers in a file each sampled peer overlaps, and those it would choose of them.

    What is chosen of everybody is what is chosen of those chosen file by file, so nobody else has to be kept.
    """
    import pyarrow as pa

    subscriber, ring_id, lows, highs = read_subscriptions(files[number], names)
    rows = []
    for peer, (low, high, own_id) in own.items():
        near = np.flatnonzero(((lows <= high) & (highs >= low)).all(axis=1) & (subscriber != peer))
        kept = near[_chosen((low, high, own_id), lows[near], highs[near], ring_id[near])]
        ends = np.concatenate([lows[kept], highs[kept]], axis=1)
        rows.append({"peer": peer, "overlaps": len(near), "ring_id": ring_id[kept], "ends": ends.ravel()})
    return pa.Table.from_pylist(rows, schema=schema)


def _chosen(own: Box, lows: NDArray[np.float64], highs: NDArray[np.float64], ids: Integers) -> Integers:
    """Rows of the candidates that ring selection keeps."""
    kept = select_ring(*own, lows, highs, ids.astype(np.uint64))
    return np.union1d(kept.successors, kept.predecessors).astype(np.int64)


def regions(workload: Workload, megabytes: int = 256) -> pa.Table:
    """The minimal regions S_m (Section 3): region, members, boxes (int64).

    Raises
    ------
    InputError
        The regions would take more than so many megabytes, or there are more than a million subscribers.
    """
    import pyarrow as pa

    if workload.subscribers > ROWS_PER_FILE:
        raise InputError(f"{workload.subscribers} subscribers: expected at most {ROWS_PER_FILE} for regions")
    pieces = [(lows, highs) for _, _, lows, highs in workload.subscriptions()]
    empty = np.empty((0, len(workload.names)))
    lows, highs = pieces[0] if pieces else (empty, empty)
    found = minimal_regions(lows, highs, max_bytes=megabytes * 2**20)
    sizes = {"members": found.members.sizes(), "boxes": np.diff(found.offsets)}
    return pa.table({"region": np.arange(len(found)), **sizes})


def ring_loads(workload: Workload, spark: SparkSession | None = None) -> pa.Table:
    """Of the rings that `list_rings` wrote: rings and distinct ring neighbours of each subscriber.

    Columns: subscriber, rings, successors (distinct ones), all int64; subscribers on no ring are left out.
    Without a Spark session the rings have to fit into memory.
    """
    from pyarrow import parquet

    folder, columns = workload.folder / "rings", ["subscriber", "rings", "successors"]
    if spark is None:
        rings = parquet.read_table(folder, columns=["subscriber", "successor"]).group_by("subscriber")
        counted = rings.aggregate([("successor", "count"), ("successor", "count_distinct")])
        return counted.rename_columns(columns).sort_by("subscriber")
    spark.read.parquet(str(folder)).createOrReplaceTempView("rings")
    table: pa.Table = spark.sql(
        "select subscriber, count(*) as rings, count(distinct successor) as successors"
        " from rings group by subscriber order by subscriber"
    ).toArrow()
    return table


def describe(
    workload: Workload, peers: int = 100, spark: SparkSession | None = None
) -> tuple[pa.Table, pa.Table]:
    """How each quantity of a workload is spread, one row each, and the sample of peers behind two of them."""
    import pyarrow as pa

    rows = [_spread("ring length", ring_sizes(workload))] if workload.events else []
    widths: list[list[NDArray[np.float64]]] = [[] for _ in workload.names]
    for _, _, lows, highs in workload.subscriptions():
        for axis, seen in enumerate(widths):
            step = max(1, workload.subscribers // 1_000_000)  # a sample of a million
            seen.append(highs[::step, axis] - lows[::step, axis])
    rows += [
        _spread(f"width of {name}", np.concatenate(seen))
        for name, seen in zip(workload.names, widths, strict=True)
        if seen
    ]
    sample = peer_sample(workload, peers, spark)
    rows += [_spread(f"{name} per peer", sample[name].to_numpy()) for name in ("overlaps", "links")]
    return pa.Table.from_pylist(rows), sample


def write_statistics(
    workload: Workload,
    out: Path,
    spark: SparkSession | None = None,
    peers: int = 100,
    megabytes: int = 256,
) -> Path:
    """Write the statistics of a workload to a folder: Parquet tables, `statistics.md`, a figure, a manifest.

    Where rings have been listed, the loads of subscribers too. `megabytes` bounds the regions; 0 leaves
    them out.
    """
    import pyarrow as pa

    summary, sample = describe(workload, peers, spark)
    tables, more, note = {"peers": sample}, [], ""
    if workload.events:
        tables["ring-lengths"] = ring_lengths(workload)
    if (workload.folder / "rings").exists():
        tables["loads"] = ring_loads(workload, spark)
        columns = ("rings", "successors")
        more += [_spread(f"{name} per subscriber", tables["loads"][name].to_numpy()) for name in columns]
    if megabytes:
        try:
            tables["regions"] = regions(workload, megabytes)
            columns = ("members", "boxes")
            more += [_spread(f"{name} per region", tables["regions"][name].to_numpy()) for name in columns]
        except InputError as refusal:
            note = f"\n\nRegions were not found: {refusal}"
    if more:
        summary = pa.concat_tables([summary, pa.Table.from_pylist(more)], promote_options="permissive")
    text = f"{workload.subscribers} subscribers, {workload.events} events, {', '.join(workload.names)}{note}"
    if workload.events:
        from workloads.statistics.figures import draw_ring_lengths

        draw_ring_lengths(tables["ring-lengths"], out / "ring-lengths.png")
    name = f"Statistics of the workload {workload.folder.resolve().name}"
    return write_folder(out, name, text, tables | {"summary": summary}, [workload.folder], ["summary"])
