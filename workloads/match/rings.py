"""The true rings of a workload of any size: the matching subscribers of each event, and their successors.

Section 3 of Sub-2-Sub: the subscribers that match an event form a ring, ordered by their sequence IDs.

There may be a thousand times as many matches as subscribers, so matches are never sorted. Instead,
subscribers are sorted by their IDs and divided into *arcs*, ranges of IDs. An arc contains a part of every
ring, and the index lists the members of this part in ring order. The successor of the last member of a part
is the first member of the next part. An arc needs nothing else of the others:

1. ordering: each file of subscriptions is sorted by ID and written arc by arc.
2. first members: each arc finds its first member of every ring.
3. rings: each arc lists its members and writes its file.

All steps are tasks over files, on Spark or in threads of this process.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.arrays import Integers, Mask, Names
from workloads.files.atomic import atomic_write, write_array
from workloads.files.checked import read_parquet, write_parquet
from workloads.files.places import load_array, read_batch, remove
from workloads.folder.layout import Workload, part, parts, read_rows, rows_of_part
from workloads.folder.steps import complete
from workloads.match.index import Index, make_index
from workloads.match.tiles import ring_sizes
from workloads.spark.tasks import Spark, StageProgress, run_numbers

_MATCHES_PER_ARC = 8_000_000
_ROWS_PER_GROUP = 2**20
_SAMPLED = 4096  # IDs of each file, from which the ends of arcs are computed


@dataclass(frozen=True)
class _Job:
    """The parameters of the tasks; sent to the workers."""

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
        return rows_of_part(row, self.events), arc

    def ordered(self, file: int) -> Path:
        return self.folder / ".arcs" / f"ordered-{file}.arrow"

    def first(self, number: int) -> Path:
        return self.folder / ".arcs" / f"first-{number}.npy"


def list_rings(workload: Workload, spark: Spark = None, progress: StageProgress | None = None) -> Path:
    """Write every ring to `rings/` of the folder. Needs `count_rings` first.

    Columns: event (int64), subscriber and successor (int32; int64 beyond 2^31 subscribers). The successor is
    the next subscriber on the event's ring, and the first one after the last. Rows of a file are sorted by
    event and then by sequence ID; successive files of the same million events hold rising IDs, so a
    subscriber is in only one of them.
    """
    sizes = ring_sizes(workload)
    folder = workload.folder.resolve()
    out, drafts = folder / "rings", folder / ".arcs"
    remove(out, drafts)
    if not sizes.any():
        _write_rings(part(out, 0), range(0), sizes[:0], sizes[:0], sizes[:0])
        return complete(out, [part(out, 0)], [0])
    files = parts(folder / "subscriptions", workload.subscribers)
    arcs = max(len(files), -(-int(sizes.sum()) // _MATCHES_PER_ARC))
    job = _Job(folder, workload.names, workload.events, _cuts(files, arcs), workload.subscribers <= 2**31)
    run_numbers(spark, range(len(files)), partial(_order_file, job), "ordering", progress)
    run_numbers(spark, job.numbers, partial(_find_first, job, len(files)), "first members", progress)
    rows = run_numbers(spark, job.numbers, partial(_list_arc, job, len(files)), "rings", progress)
    remove(drafts)
    if rows.sum() != sizes.sum():
        raise InputError(f"{out}: expected {sizes.sum()} members of rings, got {rows.sum()}; match again")
    return complete(out, [part(out, number) for number in job.numbers], rows.tolist())


def _cuts(files: list[Path], arcs: int) -> Integers:
    """Sequence IDs that cut the subscribers into arcs of about the same size."""

    def sample(file: Path) -> Integers:
        ids: Integers = read_parquet(file, columns=["ring_id"])["ring_id"].to_numpy()
        return ids[:: max(1, len(ids) // _SAMPLED)].copy()

    sampled = [sample(file) for file in files]
    known: Integers = np.sort(np.concatenate(sampled)) if sampled else np.zeros(0, np.int64)
    return np.unique(known[np.arange(1, arcs) * len(known) // max(1, arcs)]) if len(known) else known


def _in_ring_order(ring_id: Integers) -> Integers:
    """The order of rising IDs; subscribers with equal IDs keep their order."""
    order = np.argsort(ring_id)
    ordered = ring_id[order]
    return np.argsort(ring_id, kind="stable") if (ordered[1:] == ordered[:-1]).any() else order


def _order_file(job: _Job, file: int) -> int:
    """Sort a file of subscriptions by ID, and write it with one batch for each arc."""
    table = read_parquet(part(job.folder / "subscriptions", file))
    ring_id = table["ring_id"].to_numpy()
    order = _in_ring_order(ring_id)
    ends = [f"{name}_{end}" for end in ("low", "high") for name in job.names]
    columns = {name: table[name].to_numpy()[order] for name in ("subscriber", "ring_id", *ends)}
    rows = pa.record_batch(columns)
    cuts = np.searchsorted(columns["ring_id"], job.cuts, side="left").tolist()
    with (
        atomic_write(job.ordered(file)) as draft,
        pa.ipc.new_file(str(draft), rows.schema) as out,
    ):
        for first, last in itertools.pairwise([0, *cuts, len(order)]):
            out.write_batch(rows[first:last])
    return len(order)


def _arc(job: _Job, files: int, number: int) -> tuple[Names, Index]:
    """Subscribers of an arc, in ring order, and the index of their boxes and of the task's events."""
    events, arc = job.of(number)
    batches = [read_batch(job.ordered(file), arc) for file in range(files)]
    columns = [np.concatenate(column) for column in zip(*batches, strict=True)]
    order = _in_ring_order(columns[1])
    subscriber: Names = columns[0][order].astype(np.int32 if job.narrow else np.int64)
    d = len(job.names)
    lows, highs = (
        np.stack([column[order] for column in half], axis=1)
        for half in (columns[2 : 2 + d], columns[2 + d :])
    )
    points = read_rows(job.folder / "events", job.names, events.start, events.stop)
    return subscriber, make_index(lows, highs, points)


def _find_first(job: _Job, files: int, number: int) -> int:
    """Find an arc's first member of each ring."""
    subscriber, index = _arc(job, files, number)
    return write_array(job.first(number), index.first(subscriber))


def _list_arc(job: _Job, files: int, number: int) -> int:
    """Write an arc's members of each ring, and their successors."""
    subscriber, index = _arc(job, files, number)
    events, arc = job.of(number)
    sizes, members = index.list(subscriber)
    # The successor is in the next row, except for the last member of each part.
    successor = np.empty_like(members)
    successor[:-1] = members[1:]
    there = sizes > 0
    successor[np.cumsum(sizes)[there] - 1] = _next_first(job, number, arc, there)
    _write_rings(part(job.folder / "rings", number), events, sizes, members, successor)
    return len(members)


def _write_rings(path: Path, events: range, totals: Integers, subscriber: Names, successor: Names) -> None:
    """Write members of rings. A dictionary stores the number of an event once for all of its rows."""
    runs = np.repeat(np.arange(len(events), dtype=np.int32), totals)
    event = pa.DictionaryArray.from_arrays(runs, np.arange(events.start, events.stop))
    columns = {"event": event, "subscriber": pa.array(subscriber), "successor": pa.array(successor)}
    # Columns without nulls need no validity bits per row.
    schema = pa.schema([pa.field(name, column.type, nullable=False) for name, column in columns.items()])
    table = pa.Table.from_arrays(list(columns.values()), schema=schema)
    with atomic_write(path) as draft:
        write_parquet(
            table, draft, row_group_size=_ROWS_PER_GROUP, compression="none", use_dictionary=["event"],
            write_statistics=["event"], store_schema=False,
        )  # fmt: skip


def _next_first(job: _Job, number: int, arc: int, there: Mask) -> Integers:
    """The first member of the next part of each ring with members here; of this part if there is no other."""
    found = np.full(len(there), -1)
    for step in range(1, job.arcs + 1):
        missing = there & (found < 0)
        if not missing.any():
            break
        first = load_array(job.first(number - arc + (arc + step) % job.arcs))
        found[missing] = first[missing]
    return found[there]
