"""Statistics of a workload: ring lengths, widths, interest, overlaps, links, loads, topics, regions.

Ring lengths come from the counts, and loads from the rings, that `sub2sub workload match` wrote. Spark
reduces all rows to distributions (`workloads.statistics.spread`); this process sees tables of ordinary size
only. The number of regions S_m (Sub-2-Sub, Section 3) grows as (2n)^d if subscriptions overlap: they are
computed only if they fit into memory.
"""

from __future__ import annotations

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
from workloads.statistics.attributes import axes, density, shares
from workloads.statistics.folder import begin_folder, write_folder
from workloads.statistics.spread import Spread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST = 2**20  # subscribers whose regions are computed
Rows = list[dict[str, Any]]
Tables = dict[str, pa.Table]


def histogram(frame: DataFrame, column: str) -> pa.Table:
    """The values of a column of whole numbers in rising order, and how many rows have each: value, count."""
    found = frame.groupBy(frame[column].alias("value")).count().toArrow().sort_by("value")
    return pa.table(found.columns, found.column_names)  # without what Spark knows of nulls


def _spread(values: pa.Table) -> Spread:
    value, count = (column.to_numpy().astype(np.float64) for column in values.columns)
    return Spread(value, count, float(value @ count))


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


def describe(saved: Saved, peers: int = 100) -> tuple[Rows, Tables, list[str]]:
    """The distribution of each quantity, one row each; the tables that they summarise; and notes."""
    subscriptions, events = saved.require("subscriptions", "sub2sub workload generate"), saved.read("events")
    attributes, count = saved.attributes, subscriptions.count()
    types = {name: own.kind for name, own in attributes.items()}
    published = 0 if events is None else events.count()
    rows: Rows = []
    tables: Tables = {}
    notes = [f"{count} subscribers, {published} events, {', '.join(types)}"]
    if published:
        lengths = histogram(saved.require("matches", "sub2sub workload match"), "matches")
        tables["ring-lengths"] = lengths.rename_columns(["length", "events"])
        rows.append(_spread(lengths).row("ring length"))
    found = axes(subscriptions, attributes)
    rows += [axis["width"].row(f"width of {name}") for name, axis in found.items()]
    tables["attributes"], tables["density"] = shares(types, found, count), density(types, found, count)
    widths = [
        pa.table({"attribute": pa.repeat(name, len(axis["width"].values)), "width": axis["width"].values,
                  "text": [types[name].width(width) for width in axis["width"].values.tolist()],
                  "subscriptions": axis["width"].weights})
        for name, axis in found.items()
    ]  # fmt: skip
    tables["widths"] = pa.concat_tables(widths)
    tables["peers"] = overlaps(subscriptions, peers).toArrow().sort_by("subscriber")
    for name in ("overlaps", "links"):
        rows.append(Spread.of(tables["peers"][name].to_numpy()).row(f"{name} per peer"))
    if (topics := saved.read("topics")) is not None:
        tables["topics"] = topic_table(subscriptions, events, topics.toArrow().sort_by("topic"))
    if (rings := saved.read("rings")) is not None:
        written = saved.write("loads", loads(rings))
        none = pa.table({"value": [0], "count": [count - written.count()]})
        for name in ("rings", "successors"):
            values = pa.concat_tables([none, histogram(written, name)])
            rows.append(_spread(values).row(f"{name} per subscriber"))
            if name == "rings":
                tables["ring-loads"] = values.rename_columns(["rings", "subscribers"])
        notes.append(f"{none['count'][0]} of {count} subscribers are on no ring of these events.")
    return rows, tables, notes


def write_statistics(saved: Saved, out: Path, peers: int = 100, megabytes: int = 256) -> Path:
    """Write the statistics of a workload to a folder: Parquet tables, `statistics.md`, figures, a manifest.

    The loads of subscribers are included if rings have been listed. `megabytes` limits the memory for the
    regions; 0 leaves them out.
    """
    from workloads.statistics.figures import draw_workload

    begin_folder(out)
    rows, tables, notes = describe(saved, peers)
    if megabytes:
        try:
            subscriptions = saved.require("subscriptions", "sub2sub workload generate")
            tables["regions"] = regions(subscriptions, subscriptions.count(), megabytes)
            spreads = {name: Spread.of(tables["regions"][name].to_numpy()) for name in ("members", "boxes")}
            rows += [spread.row(f"{name} per region") for name, spread in spreads.items()]
        except InputError as refusal:
            notes.append(f"Regions were not found: {refusal}")
    draw_workload(tables, out)
    shown = ["summary", "attributes", *(["topics"] if "topics" in tables else [])]
    tables["summary"] = pa.Table.from_pylist(rows)
    name = f"Statistics of the workload {Path(saved.address).resolve().name}"
    return write_folder(out, name, "\n\n".join(notes), tables, [Path(saved.address)], shown)
