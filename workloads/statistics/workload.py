"""Statistics of a workload: ring lengths, widths, interest, overlaps, links, loads, regions, topics.

Ring lengths come from the counts that `workloads.match.tiles` wrote, loads from the rings of
`workloads.match.rings`. Each task reads one file of subscriptions and returns spreads
(`workloads.statistics.spread`), never a row per subscriber. The number of regions S_m (Sub-2-Sub, Section 3)
grows as (2n)^d if subscriptions overlap: they are computed only if they fit into memory.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from sub2sub.geometry.regions import minimal_regions
from workloads.files.checked import read_parquet
from workloads.folder import layout
from workloads.folder.layout import Workload
from workloads.folder.steps import completed
from workloads.match.tiles import ring_sizes
from workloads.spark.tasks import Spark, run_tasks
from workloads.statistics.attributes import axes, density, shares
from workloads.statistics.folder import begin_folder, write_folder
from workloads.statistics.loads import ring_loads
from workloads.statistics.peers import peer_sample
from workloads.statistics.spread import Spread


def ring_lengths(workload: Workload) -> pa.Table:
    """How many events have a ring of each length: length int64, events int64."""
    length, events = np.unique(ring_sizes(workload), return_counts=True)
    return pa.table({"length": length, "events": events})


def regions(workload: Workload, megabytes: int = 256) -> pa.Table:
    """The minimal regions S_m (Section 3): region, members, boxes (int64).

    An error is raised if they need more memory, or if there are more than a million subscribers.
    """
    if workload.subscribers > layout.ROWS_PER_FILE:
        raise InputError(
            f"{workload.subscribers} subscribers: expected at most {layout.ROWS_PER_FILE} for regions"
        )
    pieces = [(lows, highs) for _, _, lows, highs in workload.subscriptions()]
    empty = np.empty((0, len(workload.names)))
    lows, highs = pieces[0] if pieces else (empty, empty)
    found = minimal_regions(lows, highs, max_bytes=megabytes * 2**20)
    sizes = {"members": found.members.sizes(), "boxes": np.diff(found.offsets)}
    return pa.table({"region": np.arange(len(found)), **sizes})


def topic_table(workload: Workload, spark: Spark = None) -> pa.Table:
    """Topics of a topic workload: path, depth, subscribers, events, and the audience of an event."""
    topics = read_parquet(workload.folder / "topics.parquet")
    files = layout.parts(workload.folder.resolve() / "subscriptions", workload.subscribers)
    schema = pa.schema([("topic", pa.int64()), ("subscribers", pa.int64())])
    task = partial(_file_topics, files, workload.names, schema)
    found = run_tasks(spark, len(files), task, schema)
    size, last = topics.num_rows, topics["last"].to_numpy()
    counted = np.bincount(found["topic"].to_numpy(), found["subscribers"].to_numpy(), size).astype(np.int64)
    published = np.zeros(size, np.int64)
    for start in range(0, workload.events, layout.ROWS_PER_FILE):
        rows = workload.event_range(start, min(workload.events, start + layout.ROWS_PER_FILE))
        published += np.bincount(rows[:, 0].astype(np.int64), minlength=size)
    # A subscriber of a topic is in the audience of the topic and of all topics below it, a range of numbers.
    steps = np.zeros(size + 1, np.int64)
    steps[:size] += counted
    np.subtract.at(steps, last + 1, counted)
    columns = {"subscribers": counted, "events": published, "audience": np.cumsum(steps)[:size]}
    return pa.table({name: topics[name] for name in ("topic", "path", "depth")} | columns)


def _file_topics(files: list[Path], names: list[str], schema: pa.Schema, number: int) -> pa.Table:
    _, _, lows, _ = layout.read_subscriptions(files[number], names)
    topic, subscribers = np.unique(lows[:, 0].astype(np.int64), return_counts=True)
    return pa.table({"topic": topic, "subscribers": subscribers}, schema=schema)


def describe(
    workload: Workload, peers: int = 100, spark: Spark = None
) -> tuple[list[dict[str, Any]], dict[str, pa.Table]]:
    """The distribution of each quantity of a workload, one row each, and the tables that they summarise."""
    rows, tables = [], {}
    if workload.events:
        tables["ring-lengths"] = ring_lengths(workload)
        rows.append(Spread.of(ring_sizes(workload)).row("ring length"))
    found = axes(workload, spark)
    rows += [axis["width"].row(f"width of {name}") for name, axis in found.items()]
    tables["attributes"], tables["density"] = shares(workload, found), density(workload, found)
    widths = [
        pa.table({"attribute": pa.repeat(name, len(axis["width"].values)), "width": axis["width"].values,
                  "text": [workload.types[name].width(width) for width in axis["width"].values.tolist()],
                  "subscriptions": axis["width"].weights})
        for name, axis in found.items()
    ]  # fmt: skip
    tables["widths"] = pa.concat_tables(widths)
    tables["peers"] = peer_sample(workload, peers, spark)
    for name in ("overlaps", "links"):
        rows.append(Spread.of(tables["peers"][name].to_numpy()).row(f"{name} per peer"))
    if "topics" in workload.manifest:
        tables["topics"] = topic_table(workload, spark)
    return rows, tables


def write_statistics(
    workload: Workload,
    out: Path,
    spark: Spark = None,
    peers: int = 100,
    megabytes: int = 256,
) -> Path:
    """Write the statistics of a workload to a folder: Parquet tables, `statistics.md`, figures, a manifest.

    The loads of subscribers are included if rings have been listed. `megabytes` limits the memory for the
    regions; 0 leaves them out.
    """
    from workloads.statistics.workload_figures import draw_workload

    begin_folder(out)
    rows, tables = describe(workload, peers, spark)
    notes = [f"{workload.subscribers} subscribers, {workload.events} events, {', '.join(workload.names)}"]
    if completed(workload.folder / "rings") is not None:
        loads = ring_loads(workload, out / "loads", spark)
        rows += [spread.row(f"{name} per subscriber") for name, spread in loads.items()]
        none = int(loads["rings"].below(np.zeros(1), True)[0])
        notes.append(f"{none} of {workload.subscribers} subscribers are on no ring of these events.")
        load = loads["rings"]
        tables["ring-loads"] = pa.table(
            {"rings": load.values.astype(np.int64), "subscribers": load.weights.astype(np.int64)}
        )
    elif (workload.folder / "rings").exists():
        notes.append("Rings were not listed to the end, so nothing is said of loads: `match --rings` again.")
    if megabytes:
        try:
            tables["regions"] = regions(workload, megabytes)
            spreads = {name: Spread.of(tables["regions"][name].to_numpy()) for name in ("members", "boxes")}
            rows += [spread.row(f"{name} per region") for name, spread in spreads.items()]
        except InputError as refusal:
            notes.append(f"Regions were not found: {refusal}")
    draw_workload(tables, out)
    name = f"Statistics of the workload {workload.folder.resolve().name}"
    shown = ["summary", "attributes", *(["topics"] if "topics" in tables else [])]
    tables["summary"] = pa.Table.from_pylist(rows)
    return write_folder(out, name, "\n\n".join(notes), tables, [workload.folder], shown)
