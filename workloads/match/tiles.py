"""How many subscribers match each event, for workloads of any size: the lengths of the true rings.

Work is cut into tiles, a range of events against a group of files of subscriptions. A tile keeps its
events and one file at a time in memory, however large either side is. Tiles write their counts, a second
step adds them up per event.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workloads.files.atomic import atomic_write
from workloads.files.places import load_array
from workloads.folder.layout import (
    ROWS_PER_FILE,
    Workload,
    part,
    parts,
    read_rows,
    read_subscriptions,
    write_part,
)
from workloads.folder.steps import clear, complete, require
from workloads.match.counts import count_matches
from workloads.spark.tasks import StageProgress, cores, cores_here, run_numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Integers = NDArray[np.int64]

_TILES_PER_CORE = 8


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
    tiles = Tiles.plan(workload.events, files, cores(spark) if spark else cores_here())
    drafts, out = folder / ".tiles", folder / "matches"
    clear(drafts, out, folder / "rings")  # rings are listed by counts
    count = partial(_count_tile, folder, workload.names, tiles)
    run_numbers(spark, range(tiles.event_ranges * tiles.file_groups), count, "matching", progress)
    add = partial(_add_tiles, folder, tiles)
    written = parts(out, workload.events)
    rows = run_numbers(spark, range(len(written)), add, "adding up", progress)
    clear(drafts)
    return complete(out, written, rows.tolist())


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
            counts[first - start : last - start] += load_array(_tile(folder, tile))[
                first - events.start : last - events.start
            ]
    write_part(
        part(folder / "matches", number), pa.table({"event": np.arange(start, stop), "matches": counts})
    )
    return stop - start


def ring_sizes(workload: Workload) -> Integers:
    """The number of matching subscribers of every event, as `count_rings` wrote it."""
    require(workload.folder / "matches", "matches", "sub2sub workload match")
    return read_rows(workload.folder / "matches", ["matches"], 0, workload.events)[:, 0].astype(np.int64)
