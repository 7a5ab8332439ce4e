"""What a workload looks like: ring lengths, widths, overlaps, and the ring links that peers need.

Ring lengths come from the counts that `workloads.rings` wrote. Overlaps and links are those of a sample of
peers: a peer's links are what ring selection (Figure 3 of Sub-2-Sub, 004) keeps of everybody it overlaps, so
they are the links of a converged overlay. Subscriptions are read file by file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub import select_ring
from workloads.layout import Workload
from workloads.rings import ring_sizes
from workloads.tables import whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["describe", "markdown", "peer_sample", "ring_lengths", "ring_loads", "write_statistics"]

Integers = NDArray[np.int64]
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


def peer_sample(workload: Workload, peers: int = 100) -> pa.Table:
    """Overlapping subscribers and ring links of evenly spaced peers: subscriber, overlaps, links (int64)."""
    import pyarrow as pa

    spaced = np.linspace(0, workload.subscribers - 1, min(peers, workload.subscribers))
    sampled: Integers = np.unique(spaced.astype(np.int64))
    own: dict[int, tuple[Any, Any, int]] = {}
    for subscriber, ring_id, lows, highs in workload.subscriptions():
        for peer in sampled:
            if subscriber[0] <= peer <= subscriber[-1]:
                row = int(peer - subscriber[0])
                own[int(peer)] = (lows[row], highs[row], int(ring_id[row]))
    found: dict[int, list[tuple[Any, Any, Any]]] = {peer: [] for peer in own}
    for subscriber, ring_id, lows, highs in workload.subscriptions():
        for peer, (low, high, _) in own.items():
            near = ((lows <= high) & (highs >= low)).all(axis=1) & (subscriber != peer)
            found[peer].append((lows[near], highs[near], ring_id[near]))
    rows = []
    for peer, (low, high, own_id) in own.items():
        lows, highs, ids = (np.concatenate(pieces) for pieces in zip(*found[peer], strict=True))
        chosen = select_ring(low, high, own_id, lows, highs, ids.astype(np.uint64))
        links = np.union1d(chosen.successors, chosen.predecessors)
        rows.append((peer, len(lows), len(links)))
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return pa.table(dict(zip(("subscriber", "overlaps", "links"), columns, strict=True)))


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


def describe(workload: Workload, peers: int = 100) -> tuple[pa.Table, pa.Table]:
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
    sample = peer_sample(workload, peers)
    rows += [_spread(f"{name} per peer", sample[name].to_numpy()) for name in ("overlaps", "links")]
    return pa.Table.from_pylist(rows), sample


def markdown(table: pa.Table) -> str:
    """A table in Markdown.

    Examples
    --------
    >>> import pyarrow as pa
    >>> print(markdown(pa.table({"a": ["x"], "b": [0.125]})))
    | a | b |
    |---|---|
    | x | 0.125 |
    """
    lines = [table.column_names, ["---"] * table.num_columns]
    lines += [[_cell(value) for value in row.values()] for row in table.to_pylist()]
    text = ["| " + " | ".join(cells) + " |" for cells in lines]
    text[1] = text[1].replace(" ", "")
    return "\n".join(text)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def write_statistics(
    workload: Workload, out: Path, spark: SparkSession | None = None, peers: int = 100
) -> Path:
    """Write the statistics of a workload to a folder: Parquet tables, `statistics.md`, a figure of the rings.

    Where rings have been listed, the loads of subscribers too.
    """
    import pyarrow as pa
    from pyarrow import parquet

    summary, sample = describe(workload, peers)
    tables = {"peers": sample}
    if workload.events:
        tables["ring-lengths"] = ring_lengths(workload)
    if (workload.folder / "rings").exists():
        tables["loads"] = ring_loads(workload, spark)
        rows = [
            _spread(f"{name} per subscriber", tables["loads"][name].to_numpy())
            for name in ("rings", "successors")
        ]
        summary = pa.concat_tables([summary, pa.Table.from_pylist(rows)], promote_options="permissive")
    for name, table in (tables | {"summary": summary}).items():
        with whole(out / f"{name}.parquet") as draft:
            parquet.write_table(table, draft)
    with whole(out / "statistics.md") as draft:
        head = f"{workload.subscribers} subscribers, {workload.events} events, {', '.join(workload.names)}"
        draft.write_text(f"# Workload statistics\n\n{head}\n\n{markdown(summary)}\n")
    if workload.events:
        from workloads.figures import draw_ring_lengths

        draw_ring_lengths(tables["ring-lengths"], out / "ring-lengths.png")
    return out
