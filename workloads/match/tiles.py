"""How many subscribers match each event, for workloads of any size: the lengths of the true rings.

Work is divided into tiles: a range of events and a group of files of subscriptions. A tile keeps its events
and one file at a time in memory. Tiles write their counts, and a second step adds them up per event.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from workloads.arrays import Integers
from workloads.files.atomic import write_array
from workloads.files.places import load_array, remove
from workloads.folder import layout
from workloads.folder.layout import Workload
from workloads.folder.steps import complete, require
from workloads.match.counts import count_matches
from workloads.spark.tasks import Spark, StageProgress, parallelism, run_numbers

_TILES_PER_CORE = 8


@dataclass(frozen=True)
class Tiles:
    """A division of events and files of subscriptions into `event_ranges` x `file_groups` tiles.

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
        """Ranges of events that fit into memory, and groups of files that keep the cores busy.

        The index is built per file, so more groups of files cost nothing, but each range of events needs its
        own index. So there are more ranges than memory requires only if there are fewer files than cores.
        """
        ranges = max(1, -(-events // layout.ROWS_PER_FILE))
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


def count_rings(workload: Workload, spark: Spark = None, progress: StageProgress | None = None) -> Path:
    """Write how many subscribers match each event to `matches/` of the folder: event int64, matches int64."""
    folder = workload.folder.resolve()
    files = len(layout.parts(folder, workload.subscribers))
    tiles = Tiles.plan(workload.events, files, parallelism(spark))
    drafts, out = folder / ".tiles", folder / "matches"
    remove(drafts, out, folder / "rings")  # rings depend on the counts
    count = partial(_count_tile, folder, workload.names, tiles)
    run_numbers(spark, range(tiles.event_ranges * tiles.file_groups), count, "matching", progress)
    add = partial(_add_tiles, folder, tiles)
    written = layout.parts(out, workload.events)
    rows = run_numbers(spark, range(len(written)), add, "adding up", progress)
    remove(drafts)
    return complete(out, written, rows.tolist())


def _tile(folder: Path, number: int) -> Path:
    return folder / ".tiles" / f"{number}.npy"


def _count_tile(folder: Path, names: list[str], tiles: Tiles, number: int) -> int:
    events, files = tiles.of(number)
    points = layout.read_rows(folder / "events", names, events.start, events.stop)
    counts = np.zeros(len(points), np.int64)
    for file in files:
        _, _, lows, highs = layout.read_subscriptions(layout.part(folder / "subscriptions", file), names)
        counts += count_matches(lows, highs, points)
    return write_array(_tile(folder, number), counts)


def _add_tiles(folder: Path, tiles: Tiles, number: int) -> int:
    rows = layout.rows_of_part(number, tiles.events)
    start, stop = rows.start, rows.stop
    counts = np.zeros(len(rows), np.int64)
    for tile in range(tiles.event_ranges * tiles.file_groups):
        events, _ = tiles.of(tile)
        first, last = max(start, events.start), min(stop, events.stop)
        if first < last:
            counts[first - start : last - start] += load_array(_tile(folder, tile))[
                first - events.start : last - events.start
            ]
    table = pa.table({"event": np.arange(start, stop), "matches": counts})
    return layout.write_part(folder / "matches", number, table)


def ring_sizes(workload: Workload) -> Integers:
    """The number of matching subscribers of every event, as `count_rings` wrote it."""
    require(workload.folder / "matches", "matches", "sub2sub workload match")
    rows = layout.read_rows(workload.folder / "matches", ["matches"], 0, workload.events)
    return rows[:, 0].astype(np.int64)
