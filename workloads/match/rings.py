"""The true rings of a workload of any size: how many subscribers match each event, who, and in which order.

Section 3 of Sub-2-Sub: the subscribers that match an event form a ring, ordered by their sequence IDs.

Work is cut into tiles, a range of events against a group of files of subscriptions. A tile keeps its
events and one file at a time in memory, however large either side is. Tiles write their counts, a second
step adds them up per event. Rings are listed only when asked for, since matches may outnumber everything
else a thousand times: events are then taken in runs with a bounded number of matches together.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.files.atomic import atomic_write
from workloads.folder.layout import (
    ROWS_PER_FILE,
    Workload,
    part,
    parts,
    read_rows,
    read_subscriptions,
    write_part,
)
from workloads.match.counts import count_matches
from workloads.spark.tasks import StageProgress, cores, run_numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["count_rings", "list_rings", "ring_sizes"]

Integers = NDArray[np.int64]

_TILES_PER_CORE = 8
_MATCHES_PER_RUN = 4_000_000


@dataclass(frozen=True)
class Tiles:
    """How events and files of subscriptions are cut: `event_ranges` x `file_groups` tiles.

    Examples
    --------
    >>> Tiles.plan(events=100_000, files=1, cores=2).events_per_range
    50000
    >>> Tiles.plan(events=100_000, files=96, cores=2)
    Tiles(events=100000, files=96, event_ranges=1, file_groups=16)
    """

    events: int
    files: int
    event_ranges: int
    file_groups: int

    @classmethod
    def plan(cls, events: int, files: int, cores: int) -> Tiles:
        """Ranges of events that fit into memory, groups of files that keep the cores busy.

        The index is built per file, so cutting files costs nothing and cutting events costs a second
        index: events are cut further only where there are fewer files than cores.
        """
        ranges = max(1, -(-events // ROWS_PER_FILE))
        groups = max(1, min(files, -(-_TILES_PER_CORE * cores // ranges)))
        if ranges * groups < cores:
            ranges = min(max(1, events), -(-cores // groups))
        return cls(events, files, ranges, groups)

    @property
    def events_per_range(self) -> int:
        """Events of one tile, at most."""
        return -(-self.events // self.event_ranges)

    def of(self, number: int) -> tuple[range, range]:
        """The events and the files of a tile."""
        row, group = divmod(number, self.file_groups)
        start, size = row * self.events_per_range, self.events_per_range
        cut = [self.files * k // self.file_groups for k in (group, group + 1)]
        return range(min(start, self.events), min(start + size, self.events)), range(*cut)


def count_rings(
    workload: Workload, spark: SparkSession | None = None, progress: StageProgress | None = None
) -> Path:
    """Write how many subscribers match each event to `matches/` (event int64, matches int64) of the folder.

    Parameters
    ----------
    spark : SparkSession, optional
        Where to run; in this process if not given, with the same result.
    progress : callable, optional
        Called with (what, done, total).
    """
    folder = workload.folder.resolve()
    files = len(parts(folder, workload.subscribers))
    tiles = Tiles.plan(workload.events, files, cores(spark) if spark else 1)
    drafts, out = folder / ".tiles", folder / "matches"
    shutil.rmtree(drafts, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    count = partial(_count_tile, folder, workload.names, tiles)
    run_numbers(spark, range(tiles.event_ranges * tiles.file_groups), count, "matching", progress)
    add = partial(_add_tiles, folder, tiles)
    run_numbers(spark, range(len(parts(out, workload.events))), add, "adding up", progress)
    shutil.rmtree(drafts, ignore_errors=True)
    out.mkdir(exist_ok=True)
    return out


def _tile(folder: Path, number: int) -> Path:
    return folder / ".tiles" / f"{number}.npy"


def _count_tile(folder: Path, names: list[str], tiles: Tiles, number: int) -> int:
    events, files = tiles.of(number)
    points = read_rows(folder / "events", names, events.start, events.stop)
    counts = np.zeros(len(points), np.int64)
    for file in files:
        _, _, lows, highs = read_subscriptions(part(folder / "subscriptions", file), names)
        counts += count_matches(lows, highs, points)
    with atomic_write(_tile(folder, number)) as draft, draft.open("wb") as out:
        np.save(out, counts)
    return len(counts)


def _add_tiles(folder: Path, tiles: Tiles, number: int) -> int:
    import pyarrow as pa

    start, stop = number * ROWS_PER_FILE, min(tiles.events, (number + 1) * ROWS_PER_FILE)
    counts = np.zeros(stop - start, np.int64)
    for tile in range(tiles.event_ranges * tiles.file_groups):
        events, _ = tiles.of(tile)
        first, last = max(start, events.start), min(stop, events.stop)
        if first < last:
            counts[first - start : last - start] += np.load(_tile(folder, tile), mmap_mode="r")[
                first - events.start : last - events.start
            ]
    write_part(
        part(folder / "matches", number), pa.table({"event": np.arange(start, stop), "matches": counts})
    )
    return stop - start


def ring_sizes(workload: Workload) -> Integers:
    """The number of matching subscribers of every event, as `count_rings` wrote it."""
    if workload.events and not part(workload.folder / "matches", 0).exists():
        raise InputError(f"{workload.folder}: no matches yet, expected `sub2sub workload match` first")
    return read_rows(workload.folder / "matches", ["matches"], 0, workload.events)[:, 0].astype(np.int64)


def list_rings(
    workload: Workload, spark: SparkSession | None = None, progress: StageProgress | None = None
) -> Path:
    """Write every ring to `rings/` of the folder, in the order of its sequence IDs.

    Columns, all int64: event, subscriber, ring_id, successor (the next subscriber on the event's ring;
    the first again after the last; itself where it is alone). Needs `count_rings` first.
    """
    sizes = ring_sizes(workload)
    folder, out = workload.folder.resolve(), workload.folder / "rings"
    shutil.rmtree(out, ignore_errors=True)
    bounds = _runs(sizes)
    files = len(parts(folder, workload.subscribers))
    task = partial(_list_run, folder, workload.names, bounds, files)
    run_numbers(spark, range(len(bounds) - 1), task, "rings", progress)
    out.mkdir(exist_ok=True)
    return out


def _runs(sizes: Integers) -> Integers:
    """Where to cut the events so that each run has a bounded number of matches, but one event at least."""
    ends = np.cumsum(sizes)
    bounds = [0]
    while bounds[-1] < len(sizes):
        before = ends[bounds[-1] - 1] if bounds[-1] else 0
        fits = int(np.searchsorted(ends, before + _MATCHES_PER_RUN, "right"))
        bounds.append(max(bounds[-1] + 1, fits))
    return np.array(bounds)


def _list_run(folder: Path, names: list[str], bounds: Integers, files: int, number: int) -> int:
    import pyarrow as pa

    start, stop = int(bounds[number]), int(bounds[number + 1])
    points = read_rows(folder / "events", names, start, stop)
    pieces = []
    for file in range(files):
        subscriber, ring_id, lows, highs = read_subscriptions(part(folder / "subscriptions", file), names)
        found = match(lows, highs, points)
        event = np.repeat(np.arange(start, stop), found.sizes())
        pieces.append((event, ring_id[found.members], subscriber[found.members]))
    event, ring_id, subscriber = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
    order = np.lexsort((subscriber, ring_id, event))
    event, ring_id, subscriber = event[order], ring_id[order], subscriber[order]
    # The next row is the next on the ring, except for the last of each ring, whose next is the first.
    sizes = np.bincount(event - start, minlength=stop - start)
    last = np.cumsum(sizes)[sizes > 0] - 1
    successor = np.roll(subscriber, -1)
    successor[last] = subscriber[last - sizes[sizes > 0] + 1]
    columns = {"event": event, "subscriber": subscriber, "ring_id": ring_id, "successor": successor}
    write_part(part(folder / "rings", number), pa.table(columns))
    return len(event)
