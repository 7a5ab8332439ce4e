"""The true rings of a workload of any size: who matches each event, in which order, and who comes next.

Section 3 of Sub-2-Sub: the subscribers that match an event form a ring, ordered by their sequence IDs.

Matches may outnumber everything else a thousand times, so nothing is sorted or brought together event by
event. Subscribers are put in the order of their IDs first and cut into *arcs*, ranges of IDs; of every ring,
an arc then holds a part whose members the index lists in ring order. The successor of a part's last member is
the first member of the ring's next part. So an arc needs of the others the first member of each part:

1. ordering: each file of subscriptions is sorted by ID; where the arcs begin in it is noted.
2. first members: each arc counts its members of every ring and finds the first.
3. rings: each arc lists its members and writes its file.

All steps are tasks over files, on Spark or in threads of this process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write
from workloads.files.checked import read_parquet
from workloads.files.places import load_array
from workloads.folder.layout import (
    ROWS_PER_FILE,
    Workload,
    part,
    parts,
    read_range,
    read_rows,
    read_subscriptions,
    subscription_schema,
    write_part,
)
from workloads.folder.steps import clear, complete
from workloads.match.bitmaps import CHUNK
from workloads.match.counts import Index
from workloads.match.tiles import ring_sizes
from workloads.spark.tasks import StageProgress, run_numbers, run_tasks

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["list_rings"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MATCHES_PER_ARC = 4_000_000
_ROWS_PER_GROUP = 2**20
_SAMPLED = 4096  # IDs of each file that arcs are cut by


@dataclass(frozen=True)
class _Job:
    """What the tasks need to know; travels to the workers."""

    folder: Path
    names: list[str]
    events: int
    cuts: Integers  # the first ID of each arc but the first
    narrow: bool  # whether a subscriber's number fits into 32 bits

    @property
    def arcs(self) -> int:
        return len(self.cuts) + 1

    @property
    def numbers(self) -> range:
        """A number for each arc of each range of events."""
        return range(self.arcs * len(parts(self.folder, self.events)))

    def of(self, number: int) -> tuple[range, int]:
        """The events and the arc of a task."""
        row, arc = divmod(number, self.arcs)
        return range(row * ROWS_PER_FILE, min(self.events, (row + 1) * ROWS_PER_FILE)), arc

    def ordered(self, file: int) -> Path:
        return part(self.folder / ".arcs" / "ordered", file)

    def first(self, number: int) -> Path:
        return self.folder / ".arcs" / f"first-{number}.npy"

    def counts(self, number: int) -> Path:
        return self.folder / ".arcs" / f"counts-{number}.npy"


def list_rings(
    workload: Workload, spark: SparkSession | None = None, progress: StageProgress | None = None
) -> Path:
    """Write every ring to `rings/` of the folder. Needs `count_rings` first.

    Columns: event (int64), subscriber and successor (int32; int64 beyond 2^31 subscribers): the next
    subscriber on the event's ring, the first again after the last, itself where it is alone. Rows of a file
    rise by event and then by sequence ID; files of the same million of events, one after the other, hold
    rising IDs. A subscriber is in one of them only.
    """
    sizes = ring_sizes(workload)
    folder = workload.folder.resolve()
    out, drafts = folder / "rings", folder / ".arcs"
    clear(out, drafts)
    files = parts(folder / "subscriptions", workload.subscribers)
    arcs = max(len(files), -(-int(sizes.sum()) // _MATCHES_PER_ARC))
    job = _Job(folder, workload.names, workload.events, _cuts(files, arcs), workload.subscribers <= 2**31)
    begins = _order(job, len(files), spark, progress)
    run_numbers(spark, job.numbers, partial(_find_first, job, begins), "first members", progress)
    rows = run_numbers(spark, job.numbers, partial(_list_arc, job, begins), "rings", progress)
    clear(drafts)
    if rows.sum() != sizes.sum():
        raise InputError(f"{out}: expected {sizes.sum()} members of rings, got {rows.sum()}; match again")
    return complete(out, [part(out, number) for number in job.numbers], rows.tolist())


def _cuts(files: list[Path], arcs: int) -> Integers:
    """Sequence IDs that cut the subscribers into arcs of about the same number."""

    columns = [read_parquet(file, columns=["ring_id"])["ring_id"].to_numpy() for file in files]
    sampled = [column[:: max(1, len(column) // _SAMPLED)] for column in columns]
    known: Integers = np.sort(np.concatenate(sampled)) if sampled else np.zeros(0, np.int64)
    return np.unique(known[np.arange(1, arcs) * len(known) // max(1, arcs)]) if len(known) else known


def _order(job: _Job, files: int, spark: SparkSession | None, progress: StageProgress | None) -> Integers:
    """Sort each file of subscriptions by ID: the row at which each arc begins in each (files, arcs + 1)."""
    import pyarrow as pa

    schema = pa.schema([("file", pa.int64()), ("begins", pa.list_(pa.int64()))])
    report = None if progress is None else partial(progress, "ordering")
    table = run_tasks(spark, files, partial(_order_file, job, schema), schema, progress=report)
    rows = table.sort_by("file")["begins"].to_pylist()
    return np.array(rows, np.int64).reshape(files, job.arcs + 1)


def _order_file(job: _Job, schema: pa.Schema, file: int) -> pa.Table:
    import pyarrow as pa

    path = part(job.folder / "subscriptions", file)
    subscriber, ring_id, lows, highs = read_subscriptions(path, job.names)
    order = np.lexsort((subscriber, ring_id))
    ends = [column for axis in range(len(job.names)) for column in (lows[order, axis], highs[order, axis])]
    columns = [pa.array(column) for column in (subscriber[order], ring_id[order], *ends)]
    write_part(job.ordered(file), pa.Table.from_arrays(columns, schema=subscription_schema(job.names)))
    begins = np.searchsorted(ring_id[order], job.cuts, side="left")
    return pa.table({"file": [file], "begins": [[0, *begins.tolist(), len(order)]]}, schema=schema)


def _arc(job: _Job, begins: Integers, number: int) -> tuple[Integers, Integers, Index]:
    """Subscribers and IDs of an arc, in ring order, and the index of its boxes and of its range of events."""
    events, arc = job.of(number)
    ends = [f"{name}_{end}" for end in ("low", "high") for name in job.names]
    pieces = [
        read_range(job.ordered(file), ["subscriber", "ring_id", *ends], int(first), int(last))
        for file, (first, last) in enumerate(begins[:, arc : arc + 2])
        if first < last
    ]
    empty = [np.zeros(0, np.int64), np.zeros(0, np.int64), *(np.zeros(0) for _ in ends)]
    columns = [np.concatenate(column) for column in zip(empty, *pieces, strict=True)]
    order = np.lexsort((columns[0], columns[1]))
    lows, highs = (
        np.stack([column[order] for column in half], axis=1)
        for half in (columns[2 : 2 + len(job.names)], columns[2 + len(job.names) :])
    )
    points = read_rows(job.folder / "events", job.names, events.start, events.stop)
    return columns[0][order], columns[1][order], Index(lows, highs, points)


def _save(path: Path, values: NDArray[np.integer[Any]]) -> None:
    with atomic_write(path) as draft, draft.open("wb") as file:
        np.save(file, values)


def _find_first(job: _Job, begins: Integers, number: int) -> int:
    """Count an arc's members of each ring, chunk by chunk of the index, and find the first."""
    subscriber, _, index = _arc(job, begins, number)
    chunks = range(0, len(subscriber), CHUNK)
    found = np.full(len(index.points), -1)
    counts = np.zeros((len(chunks), len(index.points)), np.int32)
    for row, start in enumerate(chunks):
        counts[row] = index.visit(start, first=found)
    first = np.full(len(found), -1)
    first[index.order] = np.where(found < 0, -1, subscriber[found] if len(subscriber) else -1)
    _save(job.counts(number), counts)
    _save(job.first(number), first)
    return len(first)


def _list_arc(job: _Job, begins: Integers, number: int) -> int:
    """Write an arc's members of each ring, and who comes next."""
    subscriber, _, index = _arc(job, begins, number)
    events, arc = job.of(number)
    counts = load_array(job.counts(number))
    totals = np.zeros(len(events), np.int64)
    totals[index.order] = counts.sum(axis=0)
    ends = np.cumsum(totals)
    members = np.empty(int(totals.sum()), np.int64)
    offsets = (ends - totals)[index.order]
    for row, start in enumerate(range(0, len(subscriber), CHUNK)):
        if len(members):
            index.visit(start, offsets=offsets, members=members)
        offsets += counts[row]
    # Matches outnumber everything else: half the bytes are half the time.
    subscribers = subscriber.astype(np.int32 if job.narrow else np.int64)[members]
    # The next row is the next on the ring, except for the last of each part.
    successor = np.empty_like(subscribers)
    successor[:-1] = subscribers[1:]
    there = totals > 0
    successor[ends[there] - 1] = _next_first(job, number, arc, there)
    _write_rings(part(job.folder / "rings", number), events, totals, subscribers, successor)
    return len(members)


def _write_rings(
    path: Path, events: range, totals: Integers, subscriber: NDArray[Any], successor: NDArray[Any]
) -> None:
    """Write members of rings; an event is written once for all of its rows, as a run of a dictionary."""
    import pyarrow as pa
    from pyarrow import parquet

    runs = np.repeat(np.arange(len(events), dtype=np.int32), totals)
    event = pa.DictionaryArray.from_arrays(runs, np.arange(events.start, events.stop))
    columns = {"event": event, "subscriber": pa.array(subscriber), "successor": pa.array(successor)}
    # That nothing is missing is said of the columns, and not again of each row.
    schema = pa.schema([pa.field(name, column.type, nullable=False) for name, column in columns.items()])
    table = pa.Table.from_arrays(list(columns.values()), schema=schema)
    with atomic_write(path) as draft:
        parquet.write_table(
            table, draft, row_group_size=_ROWS_PER_GROUP, compression="none", use_dictionary=["event"],
            write_statistics=["event"], store_schema=False,
        )  # fmt: skip


def _next_first(job: _Job, number: int, arc: int, there: NDArray[np.bool_]) -> Integers:
    """The first member of the next part of each ring that has members here; this part's if it is alone."""
    found = np.full(len(there), -1)
    for step in range(1, job.arcs + 1):
        missing = there & (found < 0)
        if not missing.any():
            break
        first = load_array(job.first(number - arc + (arc + step) % job.arcs))
        found[missing] = first[missing]
    return found[there]
