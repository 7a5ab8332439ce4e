"""Making a workload folder of foreign tables, so that matching and statistics work on them too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.digests import file_digest
from workloads.folder.foreign import (
    Columns,
    OnBad,
    Rejected,
    read_events,
    read_keys,
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
from workloads.folder.tables import TextForm
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
    form: TextForm | None = None,
    key: str | None = None,
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
    form : TextForm, optional
        How numbers and lines of CSV files are written.
    key : str, optional
        A column that names the subscribers; kept as text in a column `key` of `subscriptions/`.

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
    names, lows, highs, bad_boxes = read_subscriptions(subscriptions, columns, on_bad=on_bad, form=form)
    for name in names:
        if not name.isidentifier():
            raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
    points, bad_points = np.empty((0, len(names))), None
    if events is not None:
        mapping = {name: (event_columns or {}).get(name, name) for name in names}
        points, bad_points = read_events(events, mapping, on_bad=on_bad, form=form)
    bad = {"subscriptions": bad_boxes, "events": bad_points}
    keys = read_keys(subscriptions, key, bad_boxes, form=form) if key is not None else None
    more = {"sources": _sources({"subscriptions": subscriptions, "events": events})}
    return _write_workload(out, names, lows, highs, points, seed, bad, more, keys)


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
    form: TextForm | None = None,
    separator: str | None = None,
    implied: bool = False,
    key: str | None = None,
) -> Workload:
    """Write foreign topics, and subscriptions to and events of them, to a new workload folder.

    Parameters
    ----------
    tree : path or table
        One topic per row, such as `.sport.soccer`.
    subscriptions, events : path or table
        One topic of the tree per row.
    separator, implied
        How paths are written, and whether supertopics that are not listed are added; see `read_tree`.
    form, key
        As in `import_workload`.

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
    paths, bad_topics = read_tree(
        tree, tree_column, on_bad=on_bad, form=form, separator=separator, implied=implied
    )
    read = partial(read_topics, known=paths, on_bad=on_bad, form=form, separator=separator)
    topics = depth_first(tuple(paths))
    number = {path: float(place) for place, path in enumerate(topics)}
    chosen, bad_rows = read(subscriptions, column)
    lows = np.array([number[path] for path in chosen]).reshape(-1, 1)
    highs = last_below(topics)[lows.astype(np.int64)].astype(np.float64)
    points, bad_events = np.empty((0, 1)), None
    if events is not None:
        published, bad_events = read(events, event_column)
        points = np.array([number[path] for path in published]).reshape(-1, 1)
    bad = {"topics": bad_topics, "subscriptions": bad_rows, "events": bad_events}
    keys = read_keys(subscriptions, key, bad_rows, form=form) if key is not None else None
    sources = _sources({"topics": tree, "subscriptions": subscriptions, "events": events})
    more = {"topics": len(topics), "sources": sources}
    return _write_workload(out, ["topic"], lows, highs, points, seed, bad, more, keys, topics)


def _sources(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a workload was made of, for its manifest: names, sizes and digests of files."""
    found = {}
    for kind, source in given.items():
        if isinstance(source, str | Path) and Path(source).is_file():
            path = Path(source)
            digest = file_digest(path)
            found[kind] = {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}
        elif source is not None:
            found[kind] = {"type": type(source).__name__ if not isinstance(source, Path) else str(source)}
    return found


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
    more: Mapping[str, Any],
    keys: pa.Array | None,
    topics: tuple[str, ...] | None = None,
) -> Workload:
    import pyarrow as pa

    for kind, bad in rejected.items():
        used = len(points) if kind == "events" else len(lows)
        if bad is not None and len(bad) and not used:
            raise InputError(f"{kind}: none of {len(bad)} rows can be used, row 0: {bad.reasons[0]}")
    ring_ids = (words(seed, "subscription/ring_id", 0, len(lows)) >> np.uint64(1)).astype(np.int64)
    ends = [column for axis in range(len(names)) for column in (lows[:, axis], highs[:, axis])]
    schema, columns = subscription_schema(names), [np.arange(len(lows)), ring_ids, *ends]
    if keys is not None:
        schema, columns = schema.append(pa.field("key", pa.string())), [*columns, keys]
    _write(out / "subscriptions", columns, schema)
    _write(out / "events", [np.arange(len(points)), *points.T], event_schema(names))
    counts = {}
    for kind, bad in rejected.items():
        if bad is not None and len(bad):
            bad.write(out / "rejected" / f"{kind}.csv")
            counts[kind] = len(bad)
    manifest = {"attributes": names, "seed": seed, "subscribers": len(lows), "events": len(points)}
    if topics is not None:
        write_topics(out, topics)
    write_manifest(out, {**manifest, **more, "rejected": counts})
    return open_workload(out)


def _write(folder: Path, columns: list[Any], schema: pa.Schema) -> None:
    import pyarrow as pa

    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)
    for number, start in enumerate(range(0, table.num_rows, ROWS_PER_FILE)):
        write_part(part(folder, number), table.slice(start, ROWS_PER_FILE))
