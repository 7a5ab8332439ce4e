"""Writes a workload of any size to a folder, on Spark or in this process, with the same bytes.

One task writes one file (see `workloads.folder.layout`), so no row passes through the driver, and memory
holds one file per core. Test events with at least m matches are found in two steps: blocks of candidates are
matched with all subscriptions; then the accepted candidates are numbered and written to their files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.arrays import Integers
from workloads.files.atomic import write_array
from workloads.files.places import load_array, remove
from workloads.files.room import estimated_bytes, refuse_beyond_disk
from workloads.folder import layout
from workloads.folder.churn_table import churn_table
from workloads.folder.layout import Workload
from workloads.folder.new_folder import new_folder
from workloads.folder.steps import verify
from workloads.generate.rows import BLOCK, ring_ids
from workloads.generate.topic_ranges import TopicRanges
from workloads.match.counts import count_matches
from workloads.spark.tasks import Spark, StageProgress, run_numbers
from workloads.spec.files import to_dict
from workloads.spec.spec import Spec, check_seed, refuse_sparse
from workloads.spec.types import types_to

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
        """Folder of accepted candidates that have no number yet."""
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
    spark: Spark = None,
    partitions: int | None = None,
    progress: StageProgress | None = None,
    overwrite: bool = False,
) -> Workload:
    """Write `subscribers` subscriptions and `events` events of a spec to the folder `out`.

    Parameters
    ----------
    at_least : int
        Least number of subscribers that match an event; 0 to accept every candidate.
    cycles : int
        Length of the trace of a spec with churn; `workloads.folder.churn_table` has its columns.
    spark : SparkSession, optional
        Where to run; in this process if not given. The bytes are the same.
    partitions : int, optional
        Number of Spark tasks that share the files; one per file by default.
    progress : callable, optional
        Called with (stage, done, total).
    overwrite : bool
        Whether to replace a workload in the folder. Files of a killed process are always replaced.

    Raises
    ------
    InputError
        For numbers out of range, a folder with other files, or a workload larger than the free disk space.

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

    def write(what: str, count: int, task: Task) -> int:
        files = layout.parts(job.out / what, count)
        rows = run(what, range(len(files)), task)
        verify(files, rows.tolist())
        return int(rows.sum())

    refuse_beyond_disk(out, estimated_bytes(len(spec.names), subscribers, events))
    with new_folder(out, overwrite):
        write("subscriptions", subscribers, _write_subscriptions)
        accepted = _accept_candidates(job, run) if at_least else np.zeros(0, np.int64)
        write("events", events, partial(_write_events, accepted=accepted))
        remove(job.drafts)
        manifest = {
            "spec": to_dict(spec), "attributes": spec.names, "types": types_to(spec.types), "seed": seed,
            "subscribers": subscribers, "events": events, "at_least": at_least,
            "candidates": len(accepted) * BLOCK if at_least else events,
        }  # fmt: skip
        if cycles:
            manifest |= {"cycles": cycles, "moves": write("churn", subscribers, _write_churn)}
        if isinstance(spec, TopicRanges):
            layout.write_topics(out, spec.topics.topics)
            manifest["topics"] = len(spec.topics.topics)
        layout.write_manifest(out, manifest)
    return layout.open_workload(out)


def _write_subscriptions(job: _Job, number: int) -> int:
    rows = layout.rows_of_part(number, job.subscribers)
    lows, highs = job.spec.rows(job.seed, rows.start, rows.stop)
    ends = [side[:, axis] for axis in range(lows.shape[1]) for side in (lows, highs)]
    columns = [np.arange(rows.start, rows.stop), ring_ids(job.seed, rows.start, rows.stop), *ends]
    table = pa.table(columns, schema=layout.subscription_schema(job.spec.names))
    return layout.write_part(job.out / "subscriptions", number, table)


def _write_churn(job: _Job, number: int) -> int:
    rows = layout.rows_of_part(number, job.subscribers)
    assert job.spec.churn is not None
    table = churn_table(job.spec.churn, len(rows), job.cycles, job.seed, rows.start, job.spec)
    return layout.write_part(job.out / "churn", number, table)


def _accept_candidates(job: _Job, run: Callable[[str, range, Task], Integers]) -> Integers:
    """Filter blocks of candidates until enough are accepted; the number accepted in each block."""
    accepted = np.zeros(0, np.int64)
    while (found := int(accepted.sum())) < job.events:
        tried = len(accepted) * BLOCK
        refuse_sparse(found, tried, job.at_least, job.subscribers)
        # As many blocks as the share accepted so far requires; if none was accepted, twice those tried.
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
    for path in layout.parts(job.out / "subscriptions", job.subscribers):
        _, _, lows, highs = layout.read_subscriptions(path, job.spec.names)
        counts[short] += count_matches(lows, highs, points[short], enough=job.at_least)
        short = short[counts[short] < job.at_least]
        if not len(short):
            break
    return write_array(_draft(job, block), points[counts >= job.at_least])


def _draft(job: _Job, block: int) -> Path:
    return job.drafts / f"block-{block}.npy"


def _write_events(job: _Job, number: int, accepted: Integers) -> int:
    rows = layout.rows_of_part(number, job.events)
    if job.at_least:
        ends = np.cumsum(accepted)
        first = int(np.searchsorted(ends, rows.start, "right"))
        last = int(np.searchsorted(ends, rows.stop, "left"))
        before = int(ends[first] - accepted[first])
        drafts = [load_array(_draft(job, block)) for block in range(first, last + 1)]
        points = np.concatenate(drafts)[rows.start - before : rows.stop - before]
    else:
        points = job.spec.candidates(job.seed, rows.start, rows.stop)
    columns = [np.arange(rows.start, rows.stop), *points.T]
    table = pa.table(columns, schema=layout.event_schema(job.spec.names))
    return layout.write_part(job.out / "events", number, table)
