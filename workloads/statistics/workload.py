"""Statistics of a workload: ring lengths, widths, interest, overlaps, links, loads, topics, regions.

Ring lengths come from the counts that `sub2sub workload match` wrote. Spark
reduces all rows to distributions; this process sees tables of ordinary size only. The number of regions S_m
(Sub-2-Sub, Section 3) grows as (2n)^d if subscriptions overlap: they are computed only if they fit into
memory.
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from sub2sub.geometry.regions import minimal_regions
from workloads.frames import blocks
from workloads.frames.loads import loads
from workloads.frames.overlaps import overlaps
from workloads.frames.saved import Saved
from workloads.frames.statistics import distribution
from workloads.statistics.attributes import density, shares, width, widths
from workloads.statistics.folder import begin_folder, write_folder

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MOST = 2**20  # subscribers whose regions are computed
Tables = dict[str, pa.Table]


def histogram(frame: DataFrame, column: str, value: str = "value", count: str = "count") -> pa.Table:
    """The values of a column of whole numbers in rising order, and how many rows have each."""
    found = frame.groupBy(column).count().toArrow().sort_by(column)
    return pa.table(found.columns, [value, count])  # without what Spark knows of nulls


def regions(subscriptions: DataFrame, subscribers: int, megabytes: int = 256) -> pa.Table:
    """The minimal regions S_m (Section 3): region, members, boxes (int64).

    An error is raised if they need more memory, or if there are more than a million subscribers.
    """
    if subscribers > _MOST:
        raise InputError(f"{subscribers} subscribers: expected at most {_MOST} for regions")
    rows = blocks.ranges(subscriptions).toArrow().sort_by("subscriber")
    lows, highs = blocks.boxes(rows, blocks.attributes(subscriptions))
    found = minimal_regions(lows, highs, max_bytes=megabytes * 2**20)
    sizes = {"members": found.members.sizes(), "boxes": np.diff(found.offsets)}
    return pa.table({"region": np.arange(len(found)), **sizes})


def topic_table(subscriptions: DataFrame, events: DataFrame | None, topics: pa.Table) -> pa.Table:
    """Topics of a topic workload: path, depth, subscribers, events, and the audience of an event."""
    size, last = topics.num_rows, topics["last"].to_numpy()

    def counted(frame: DataFrame | None, column: str) -> Any:
        found = np.zeros(size, np.int64)
        if frame is not None:
            values = histogram(frame, column)
            found[values["value"].to_numpy().astype(np.int64)] = values["count"].to_numpy()
        return found

    subscribers = counted(subscriptions, "topic_low")
    # A subscriber of a topic is in the audience of the topic and of all topics below it, a range of numbers.
    steps = np.zeros(size + 1, np.int64)
    steps[:size] += subscribers
    np.subtract.at(steps, last + 1, subscribers)
    columns = {
        "subscribers": subscribers,
        "events": counted(events, "topic"),
        "audience": np.cumsum(steps)[:size],
    }
    return pa.table({name: topics[name] for name in ("topic", "path", "depth")} | columns)


def describe(saved: Saved, peers: int = 100, megabytes: int = 256) -> tuple[Tables, list[str]]:
    """The tables of a workload, with the distribution of each quantity in `summary`; and notes."""
    from pyspark.sql import functions as f

    subscriptions, events = saved.require("subscriptions", "sub2sub workload generate"), saved.read("events")
    attributes, count = saved.attributes, subscriptions.count()
    published = 0 if events is None else events.count()
    tables: Tables = {}
    notes = [f"{count} subscribers, {published} events, {', '.join(attributes)}"]
    quantities: list[DataFrame] = []

    def summarise(quantity: str, frame: DataFrame, column: str | Column) -> None:
        value = (f.col(column) if isinstance(column, str) else column).cast("double").alias("value")
        quantities.append(distribution(frame.select(value), "value", quantity))

    if published:
        matches = saved.require("matches", "sub2sub workload match")
        tables["ring-lengths"] = histogram(matches, "matches", "length", "events")
        summarise("ring length", matches, "matches")
    tables["attributes"] = shares(subscriptions, attributes)
    tables["density"] = density(subscriptions, attributes, tables["attributes"])
    tables["widths"] = widths(subscriptions, attributes)
    for name in attributes:
        summarise(f"width of {name}", subscriptions, width(name))
    tables["peers"] = overlaps(subscriptions, peers).toArrow().sort_by("subscriber")
    for name in ("overlaps", "links"):
        summarise(f"{name} per peer", saved.spark.createDataFrame(tables["peers"]), name)
    if (topics := saved.read("topics")) is not None:
        tables["topics"] = topic_table(subscriptions, events, topics.toArrow().sort_by("topic"))
    if events is not None and published:
        written = saved.write("loads", loads(subscriptions, events))
        every = subscriptions.select("subscriber").join(written, "subscriber", "left").fillna(0)
        tables["ring-loads"] = histogram(every, "rings", "rings", "subscribers")
        for name in ("rings", "successors"):
            summarise(f"{name} per subscriber", every, name)
        alone = every.where("rings = 0").count()
        notes.append(f"{alone} of {count} subscribers are on no ring of these events.")
    if megabytes:
        try:
            tables["regions"] = regions(subscriptions, count, megabytes)
            for name in ("members", "boxes"):
                summarise(f"{name} per region", saved.spark.createDataFrame(tables["regions"]), name)
        except InputError as refusal:
            notes.append(f"Regions were not found: {refusal}")
    tables["summary"] = reduce(lambda one, other: one.unionAll(other), quantities).toArrow()
    return tables, notes


def write_statistics(saved: Saved, out: Path, peers: int = 100, megabytes: int = 256) -> Path:
    """Write the statistics of a workload to a folder: Parquet tables, `statistics.md`, figures, a manifest.

    `megabytes` limits the memory for the
    regions; 0 leaves them out.
    """
    from workloads.statistics.figures import draw_workload

    begin_folder(out)
    tables, notes = describe(saved, peers, megabytes)
    draw_workload(tables, out)
    shown = ["summary", "attributes", *(["topics"] if "topics" in tables else [])]
    name = f"Statistics of the workload {Path(saved.address).resolve().name}"
    return write_folder(out, name, "\n\n".join(notes), tables, [Path(saved.address)], shown)
