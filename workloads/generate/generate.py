"""Writing a workload of any size to a folder, on Spark or in this process, with the same bytes.

One task writes one file (see `workloads.folder.layout`), so nothing passes through the driver and memory is
that of one file per core. Test events with at least m matches are found in two steps: blocks of candidates
are filtered against all subscriptions, then the survivors are numbered and written to their files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.atomic import atomic_write
from workloads.files.places import load_array
from workloads.files.room import estimated_bytes, refuse_beyond_disk
from workloads.folder.churn_table import churn_table
from workloads.folder.layout import (
    ROWS_PER_FILE,
    Workload,
    event_schema,
    open_workload,
    part,
    parts,
    read_subscriptions,
    subscription_schema,
    write_manifest,
    write_part,
    write_topics,
)
from workloads.folder.new_folder import new_folder
from workloads.folder.steps import clear, verify
from workloads.generate.rows import BLOCK, words
from workloads.generate.topic_ranges import TopicRanges
from workloads.match.counts import count_matches
from workloads.spark.tasks import StageProgress, run_numbers
from workloads.spec.files import to_dict
from workloads.spec.spec import Spec, check_seed, refuse_sparse
from workloads.spec.types import types_to

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Integers = NDArray[np.int64]
Task = Callable[..., int]


@dataclass(frozen=True)
class _Job:
    """The parameters of the tasks; sent to the workers."""

    spec: Spec
    seed: int
    subscribers: int
    events: int
    at_least: int
    cycles: int
    out: Path

    @property
    def drafts(self) -> Path:
        """Where accepted candidates wait for their number."""
        return self.out / ".candidates"


def generate(
    spec: Spec,
    subscribers: int,
    events: int,
    seed: int,
    out: Path,
    *,
    at_least: int = 2,
    cycles: int = 0,
    spark: SparkSession | None = None,
    partitions: int | None = None,
    progress: StageProgress | None = None,
    overwrite: bool = False,
) -> Workload:
    """Write `subscribers` subscriptions and `events` events of a spec to the folder `out`.

    Parameters
    ----------
    at_least : int
        How many subscribers each event matches at least; 0 to take every candidate.
    cycles : int
        How long the trace of a spec with churn is; `workloads.folder.churn_table` has its columns.
    spark : SparkSession, optional
        Where to run; in this process if not given. The bytes are the same.
    partitions : int, optional
        How many Spark tasks share the files; one per file by default.
    progress : callable, optional
        Called with (what, done, total).
    overwrite : bool
        Whether to replace a workload that is in the folder. What a killed process left is always replaced.

    Raises
    ------
    InputError
        For numbers out of range, a folder with other files, or more bytes than the disk has left.

    Examples
    --------
    >>> import tempfile
    >>> from workloads.spec.catalogue import named
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     generate(named("uniform-2"), 1000, 10, seed=1, out=Path(folder) / "w").subscribers
    1000
    """
    counts = {"subscribers": subscribers, "events": events, "at_least": at_least, "cycles": cycles}
    for name, count in counts.items():
        if count < 0:
            raise InputError(f"{name} = {count}: expected a number of at least 0")
    check_seed(seed)
    if bool(cycles) != (spec.churn is not None):
        raise InputError(f"cycles = {cycles}: expected a number above 0 exactly when the spec has churn")
    job = _Job(spec, seed, subscribers, events, at_least, cycles, out.resolve())

    def run(what: str, numbers: range, task: Task) -> Integers:
        return run_numbers(spark, numbers, partial(task, job), what, progress, partitions)

    with new_folder(out, overwrite):
        refuse_beyond_disk(out, estimated_bytes(len(spec.names), subscribers, events))
        boxes, points = parts(job.out / "subscriptions", subscribers), parts(job.out / "events", events)
        rows = run("subscriptions", range(len(boxes)), _write_subscriptions)
        verify(boxes, rows.tolist())
        accepted = _accept_candidates(job, run) if at_least else np.zeros(0, np.int64)
        rows = run("events", range(len(points)), partial(_write_events, accepted=accepted))
        verify(points, rows.tolist())
        clear(job.drafts)
        manifest = {
            "spec": to_dict(spec),
            "attributes": spec.names,
            "types": types_to(spec.types),
            "seed": seed,
            "subscribers": subscribers,
            "events": events,
            "at_least": at_least,
            "candidates": len(accepted) * BLOCK if at_least else events,
        }
        if cycles:
            traces = parts(job.out / "churn", subscribers)
            rows = run("churn", range(len(traces)), _write_churn)
            verify(traces, rows.tolist())
            manifest |= {"cycles": cycles, "moves": int(rows.sum())}
        if isinstance(spec, TopicRanges):
            write_topics(out, spec.topics.topics)
            manifest["topics"] = len(spec.topics.topics)
        write_manifest(out, manifest)
    return open_workload(out)


def _write_subscriptions(job: _Job, number: int) -> int:
    import pyarrow as pa

    start, stop = number * ROWS_PER_FILE, min(job.subscribers, (number + 1) * ROWS_PER_FILE)
    lows, highs = job.spec.rows(job.seed, start, stop)
    ends = [column for axis in range(lows.shape[1]) for column in (lows[:, axis], highs[:, axis])]
    ring_ids = (words(job.seed, "subscription/ring_id", start, stop) >> np.uint64(1)).astype(np.int64)
    columns = [np.arange(start, stop), ring_ids, *ends]
    table = pa.Table.from_arrays(
        [pa.array(column) for column in columns], schema=subscription_schema(job.spec.names)
    )
    write_part(part(job.out / "subscriptions", number), table)
    return stop - start


def _write_churn(job: _Job, number: int) -> int:
    start, stop = number * ROWS_PER_FILE, min(job.subscribers, (number + 1) * ROWS_PER_FILE)
    assert job.spec.churn is not None
    table = churn_table(job.spec.churn, stop - start, job.cycles, job.seed, start, job.spec)
    write_part(part(job.out / "churn", number), table)
    return int(table.num_rows)


def _accept_candidates(job: _Job, run: Callable[[str, range, Task], Integers]) -> Integers:
    """Filter blocks of candidates until enough have passed: how many did, block by block."""
    accepted = np.zeros(0, np.int64)
    while (found := int(accepted.sum())) < job.events:
        tried = len(accepted) * BLOCK
        refuse_sparse(found, tried, job.at_least, job.subscribers)
        # As many blocks as the share accepted so far asks for; next to none known, twice those looked at.
        wanted = (job.events - found) / (found / len(accepted)) if found else 2 * len(accepted)
        more = max(1, -(-job.events // BLOCK)) if not tried else int(np.ceil(wanted))
        blocks = range(len(accepted), len(accepted) + min(more, 4096))
        accepted = np.append(accepted, run("candidates", blocks, _filter_block))
    return accepted


def _filter_block(job: _Job, block: int) -> int:
    """Keep the candidates of a block that enough subscribers match, reading subscriptions file by file."""
    points = job.spec.candidates(job.seed, block * BLOCK, (block + 1) * BLOCK)
    counts = np.zeros(len(points), np.int64)
    short = np.arange(len(points))
    for path in parts(job.out / "subscriptions", job.subscribers):
        _, _, lows, highs = read_subscriptions(path, job.spec.names)
        counts[short] += count_matches(lows, highs, points[short], enough=job.at_least)
        short = short[counts[short] < job.at_least]
        if not len(short):
            break
    accepted = points[counts >= job.at_least]
    with atomic_write(_draft(job, block)) as draft, draft.open("wb") as file:
        np.save(file, accepted)
    return len(accepted)


def _draft(job: _Job, block: int) -> Path:
    return job.drafts / f"block-{block}.npy"


def _write_events(job: _Job, number: int, accepted: Integers) -> int:
    import pyarrow as pa

    start, stop = number * ROWS_PER_FILE, min(job.events, (number + 1) * ROWS_PER_FILE)
    if job.at_least:
        ends = np.cumsum(accepted)
        blocks = range(
            int(np.searchsorted(ends, start, "right")), int(np.searchsorted(ends, stop, "left")) + 1
        )
        before = int(ends[blocks[0]] - accepted[blocks[0]])
        points = np.concatenate([load_array(_draft(job, block)) for block in blocks])[
            start - before : stop - before
        ]
    else:
        points = job.spec.candidates(job.seed, start, stop)
    columns = [np.arange(start, stop), *points.T]
    table = pa.Table.from_arrays(
        [pa.array(column) for column in columns], schema=event_schema(job.spec.names)
    )
    write_part(part(job.out / "events", number), table)
    return stop - start
