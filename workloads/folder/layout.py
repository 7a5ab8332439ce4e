"""The files of a workload folder, and functions that read and write parts of them.

    DIR/manifest.json           spec, seed, counts, versions; written last
    DIR/subscriptions/part-00000.parquet ...
        subscriber int64        row number
        ring_id    int64        random sequence ID, 63 bits; equal ones are ordered by subscriber
        X_low, X_high float64   closed range of attribute X
    DIR/events/part-00000.parquet ...
        event      int64        row number
        X          float64      value of attribute X
    DIR/churn/part-00000.parquet ...
        where the spec has churn; columns in `workloads.folder.churn_table`
    DIR/topics.parquet
        of a topic workload; X is then `topic`, the topic's number
        topic int64, path string, last int64 (the last topic at or below it), depth int64

Each file holds 1,048,576 rows (the last one fewer) in row groups of 65,536, so files are the same bytes
whatever the number of processes that wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.arrays import Floats, Integers
from workloads.files.atomic import atomic_write
from workloads.files.checked import read_groups, read_parquet, write_parquet
from workloads.files.environment import versions
from workloads.files.manifest import FORMAT, MANIFEST, read_manifest
from workloads.files.manifest import write_manifest as _write_manifest
from workloads.generate.rows import BLOCK
from workloads.generate.topic_ranges import last_below
from workloads.generate.topics import depth
from workloads.spec.files import from_dict
from workloads.spec.spec import Spec
from workloads.spec.types import ValueType, types_from

ROWS_PER_FILE = 16 * BLOCK


@dataclass(frozen=True)
class Workload:
    """A workload folder that has been opened."""

    folder: Path
    names: list[str]
    subscribers: int
    events: int
    manifest: dict[str, Any]

    @property
    def spec(self) -> Spec | None:
        """The spec it was generated from; None for foreign data."""
        return from_dict(self.manifest["spec"]) if "spec" in self.manifest else None

    @property
    def types(self) -> dict[str, ValueType]:
        """The type of each attribute."""
        return types_from(self.names, self.manifest.get("types"))

    def subscriptions(self) -> Iterator[tuple[Integers, Integers, Floats, Floats]]:
        """Subscriber, ring ID, lows and highs, file by file."""
        for path in parts(self.folder / "subscriptions", self.subscribers):
            yield read_subscriptions(path, self.names)

    def event_range(self, start: int, stop: int) -> Floats:
        """The points (stop - start, d) of the events [start, stop)."""
        return read_rows(self.folder / "events", self.names, start, stop)


def subscription_schema(names: list[str]) -> pa.Schema:
    """Columns of `subscriptions/`."""
    ends = [(f"{name}_{end}", pa.float64()) for name in names for end in ("low", "high")]
    return pa.schema([("subscriber", pa.int64()), ("ring_id", pa.int64()), *ends])


def event_schema(names: list[str]) -> pa.Schema:
    """Columns of `events/`."""
    return pa.schema([("event", pa.int64()), *((name, pa.float64()) for name in names)])


def part(folder: Path, number: int) -> Path:
    """Path of a folder's file of that number."""
    return folder / f"part-{number:05d}.parquet"


def parts(folder: Path, rows: int) -> list[Path]:
    """The files that hold that many rows."""
    return [part(folder, number) for number in range(-(-rows // ROWS_PER_FILE))]


def rows_of_part(number: int, rows: int) -> range:
    """The numbers of the rows in a file, if the folder has that many rows in all."""
    return range(number * ROWS_PER_FILE, min(rows, (number + 1) * ROWS_PER_FILE))


def write_part(folder: Path, number: int, table: pa.Table) -> int:
    """Write one file of a folder atomically; return the number of its rows."""
    with atomic_write(part(folder, number)) as draft:
        # Random numbers do not compress and do not repeat, so plain pages are the fastest.
        write_parquet(table, draft, row_group_size=BLOCK, compression="none", use_dictionary=False)
    return int(table.num_rows)


def write_topics(folder: Path, topics: tuple[str, ...]) -> None:
    """Write the topics of a topic workload, given in depth-first order."""
    columns = {
        "topic": np.arange(len(topics)),
        "path": pa.array(topics, pa.string()),
        "last": last_below(topics),
        "depth": np.array([depth(topic) for topic in topics], np.int64),
    }
    with atomic_write(folder / "topics.parquet") as draft:
        write_parquet(pa.table(columns), draft)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest of a workload folder; this completes it."""
    _write_manifest(folder, {"format": FORMAT, "kind": "workload", **manifest, "versions": versions()})


def open_workload(folder: Path) -> Workload:
    """Open a complete workload folder."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"{folder}: expected a workload folder with a {MANIFEST}")
    if manifest.get("kind", "workload") != "workload":
        raise InputError(f"{folder}: expected a workload folder, got one of kind {manifest['kind']!r}")
    if manifest.get("format") != FORMAT:
        raise InputError(f"{folder / MANIFEST}: expected format {FORMAT}, got {manifest.get('format')!r}")
    return Workload(folder, manifest["attributes"], manifest["subscribers"], manifest["events"], manifest)


def read_subscriptions(path: Path, names: list[str]) -> tuple[Integers, Integers, Floats, Floats]:
    """Subscriber, ring ID, lows and highs of one file."""
    table = read_parquet(path)
    lows, highs = (
        np.stack([table[f"{name}_{end}"].to_numpy() for name in names], axis=1) for end in ("low", "high")
    )
    return table["subscriber"].to_numpy(), table["ring_id"].to_numpy(), lows, highs


def read_rows(folder: Path, names: list[str], start: int, stop: int) -> Floats:
    """Columns of the rows [start, stop) of a folder of files; only the row groups with these are read."""
    pieces = [np.empty((0, len(names)))]
    while start < stop:
        number, inside = divmod(start, ROWS_PER_FILE)
        rows = min(stop, (number + 1) * ROWS_PER_FILE) - start
        groups = range(inside // BLOCK, -(-(inside + rows) // BLOCK))
        table = read_groups(part(folder, number), list(groups), names).slice(inside % BLOCK, rows)
        pieces.append(np.stack([table[name].to_numpy() for name in names], axis=1))
        start += rows
    return np.concatenate(pieces)
