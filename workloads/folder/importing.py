"""Making a workload folder of foreign tables, so that matching and statistics work on them too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.folder.foreign import (
    Columns,
    OnBad,
    Rejected,
    read_events,
    read_subscriptions,
    read_topics,
    read_tree,
)
from workloads.folder.layout import (
    ROWS_PER_FILE,
    Workload,
    event_schema,
    open_workload,
    part,
    subscription_schema,
    write_manifest,
    write_part,
    write_topics,
)
from workloads.generate.rows import words
from workloads.generate.topic_ranges import depth_first, last_below

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["import_topics", "import_workload"]

Floats = NDArray[np.float64]


def import_workload(
    subscriptions: Path | pa.Table,
    events: Path | pa.Table | None,
    out: Path,
    *,
    columns: Columns | None = None,
    event_columns: Mapping[str, str] | None = None,
    on_bad: OnBad = "refuse",
    seed: int = 0,
) -> Workload:
    """Write foreign subscriptions and events to a new workload folder.

    Parameters
    ----------
    columns, event_columns : mapping, optional
        Which columns hold which attribute; see `workloads.folder.foreign`.
    on_bad : {"refuse", "set aside"}
        Rows that cannot be used stop the import, or go to `rejected/` of the folder with their row
        number and reason; their number is in the manifest.
    seed : int
        Of the random sequence IDs.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> boxes = pa.table({"x_low": [0.0, 0.2], "x_high": [0.5, 0.4]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     workload = import_workload(boxes, pa.table({"x": [0.3]}), Path(folder) / "w")
    >>> workload.subscribers, workload.events, workload.names
    (2, 1, ['x'])
    """
    _refuse_used(out)
    names, lows, highs, bad_boxes = read_subscriptions(subscriptions, columns, on_bad=on_bad)
    for name in names:
        if not name.isidentifier():
            raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
    points, bad_points = np.empty((0, len(names))), None
    if events is not None:
        mapping = {name: (event_columns or {}).get(name, name) for name in names}
        points, bad_points = read_events(events, mapping, on_bad=on_bad)
    bad = {"subscriptions": bad_boxes, "events": bad_points}
    return _write_workload(out, names, lows, highs, points, seed, bad)


def import_topics(
    tree: Path | pa.Table,
    subscriptions: Path | pa.Table,
    events: Path | pa.Table | None,
    out: Path,
    *,
    tree_column: str | None = None,
    column: str = "topic",
    event_column: str = "topic",
    on_bad: OnBad = "refuse",
    seed: int = 0,
) -> Workload:
    """Write foreign topics, and subscriptions to and events of them, to a new workload folder.

    Parameters
    ----------
    tree : path or table
        One topic per row, such as `.sport.soccer`.
    subscriptions, events : path or table
        One topic of the tree per row.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> tree = pa.table({"path": [".a", ".a.b", ".c"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wanted = pa.table({"topic": [".a", ".c", "."]})
    ...     workload = import_topics(tree, wanted, pa.table({"topic": [".a.b"]}), Path(folder) / "w")
    >>> workload.subscribers, workload.events, workload.manifest["topics"]
    (3, 1, 4)
    """
    _refuse_used(out)
    paths, bad_topics = read_tree(tree, tree_column, on_bad=on_bad)
    topics = depth_first(tuple(paths))
    number = {path: float(place) for place, path in enumerate(topics)}
    chosen, bad_rows = read_topics(subscriptions, column, known=paths, on_bad=on_bad)
    lows = np.array([number[path] for path in chosen]).reshape(-1, 1)
    highs = last_below(topics)[lows.astype(np.int64)].astype(np.float64)
    points, bad_events = np.empty((0, 1)), None
    if events is not None:
        published, bad_events = read_topics(events, event_column, known=paths, on_bad=on_bad)
        points = np.array([number[path] for path in published]).reshape(-1, 1)
    out.mkdir(parents=True, exist_ok=True)
    write_topics(out, topics)
    bad = {"topics": bad_topics, "subscriptions": bad_rows, "events": bad_events}
    return _write_workload(out, ["topic"], lows, highs, points, seed, bad, {"topics": len(topics)})


def _refuse_used(out: Path) -> None:
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out}: expected an empty or new folder")


def _write_workload(
    out: Path,
    names: list[str],
    lows: Floats,
    highs: Floats,
    points: Floats,
    seed: int,
    rejected: Mapping[str, Rejected | None],
    more: dict[str, Any] | None = None,
) -> Workload:
    ring_ids = (words(seed, "subscription/ring_id", 0, len(lows)) >> np.uint64(1)).astype(np.int64)
    ends = [column for axis in range(len(names)) for column in (lows[:, axis], highs[:, axis])]
    _write(out / "subscriptions", [np.arange(len(lows)), ring_ids, *ends], subscription_schema(names))
    _write(out / "events", [np.arange(len(points)), *points.T], event_schema(names))
    counts = {}
    for kind, bad in rejected.items():
        if bad is not None and len(bad):
            bad.write(out / "rejected" / f"{kind}.csv")
            counts[kind] = len(bad)
    manifest = {"attributes": names, "seed": seed, "subscribers": len(lows), "events": len(points)}
    write_manifest(out, {**manifest, **(more or {}), "rejected": counts})
    return open_workload(out)


def _write(folder: Path, columns: list[NDArray[np.generic]], schema: pa.Schema) -> None:
    import pyarrow as pa

    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)
    for number, start in enumerate(range(0, table.num_rows, ROWS_PER_FILE)):
        write_part(part(folder, number), table.slice(start, ROWS_PER_FILE))
