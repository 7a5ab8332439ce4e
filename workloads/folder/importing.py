"""Import of foreign tables into a workload folder, for matching, statistics and simulations.

Tables are read in batches and written file by file: memory holds the rows of one file and the distinct values
of strings, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.folder.attribute_columns import Columns, find_types, guess_ranges
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
from workloads.folder.new_folder import new_folder
from workloads.folder.pieces import EventTable, Pieces, SubscriptionTable
from workloads.folder.rejected import Aside, OnBad, Rejected
from workloads.folder.sources import describe_sources
from workloads.folder.tables import Rows, TextForm
from workloads.folder.topic_tables import TopicColumn, TreeForm, read_tree
from workloads.generate.rows import words
from workloads.generate.topic_ranges import depth_first, last_below
from workloads.spec.types import Kind, ValueType, types_to

if TYPE_CHECKING:
    import pyarrow as pa

    from workloads.folder.tables import Source


def import_workload(
    subscriptions: Source,
    events: Source | None,
    out: Path,
    *,
    columns: Columns | None = None,
    event_columns: Mapping[str, str] | None = None,
    types: Mapping[str, ValueType | Kind] | None = None,
    on_bad: OnBad = "refuse",
    seed: int = 0,
    form: TextForm | None = None,
    key: str | None = None,
    overwrite: bool = False,
) -> Workload:
    """Write foreign subscriptions and events to a new workload folder.

    Parameters
    ----------
    columns, event_columns : mapping, optional
        Which columns hold which attribute; see `workloads.folder.foreign`.
    types : mapping, optional
        Types of attributes; guessed from their columns if not given.
    on_bad : {"refuse", "set aside"}
        Rows that cannot be used stop the import, or go to `rejected/` of the folder with their row
        number and reason; their number is in the manifest.
    seed : int
        Random seed of the sequence IDs.
    form : TextForm, optional
        How numbers and lines of CSV files are written.
    key : str, optional
        A column that names the subscribers; kept as text in a column `key` of `subscriptions/`.
    overwrite : bool
        Whether to replace a workload that is in the folder.

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
    wanted, published = Rows(subscriptions, form), None if events is None else Rows(events, form)
    columns = columns or guess_ranges(wanted)
    names = list(columns)
    for name in names:
        if not name.isidentifier():
            raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
    for name in event_columns or {}:
        if name not in columns:
            raise InputError(f"column of {name!r}: expected one of the attributes {', '.join(columns)}")
    mapping = {name: (event_columns or {}).get(name, name) for name in names}
    found = find_types(wanted, columns, published, mapping, types)
    boxes = SubscriptionTable(wanted, columns, found, key=key)
    points = None if published is None else EventTable(published, mapping, found)
    sources = describe_sources({"subscriptions": subscriptions, "events": events})
    sources["subscriptions"] |= {"columns": columns, "key": key}
    if events is not None:
        sources["events"]["columns"] = mapping
    more = {"types": types_to(found), "sources": sources}
    with new_folder(out, overwrite):
        return _write_workload(out, names, boxes, points, seed, on_bad, more)


def import_topics(
    tree: Source,
    subscriptions: Source,
    events: Source | None,
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
    overwrite: bool = False,
) -> Workload:
    """Write foreign topics, and subscriptions to and events of them, to a new workload folder.

    Parameters
    ----------
    tree : path or table
        One topic per row, such as `.sport.soccer`.
    subscriptions, events : path or table
        One topic of the tree per row.
    separator, implied
        How paths are written, and whether supertopics that are not listed are added; see `TreeForm`.
    form, key, overwrite
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
    paths, bad = read_tree(tree, tree_column, on_bad=on_bad, form=form, separator=separator, implied=implied)
    topics = depth_first(tuple(paths))
    number = {path: place for place, path in enumerate(topics)}
    written = TreeForm(separator, implied)
    boxes = TopicColumn(Rows(subscriptions, form), column, number, written, last_below(topics), key)
    points = None if events is None else TopicColumn(Rows(events, form), event_column, number, written)
    sources = describe_sources({"topics": tree, "subscriptions": subscriptions, "events": events})
    sources["topics"] |= {"column": tree_column, "separator": separator, "implied": implied}
    sources["subscriptions"] |= {"columns": {"topic": column}, "key": key}
    if events is not None:
        sources["events"]["columns"] = {"topic": event_column}
    more = {"topics": len(topics), "types": types_to({"topic": ValueType("int")}), "sources": sources}
    with new_folder(out, overwrite):
        write_topics(out, topics)
        return _write_workload(out, ["topic"], boxes, points, seed, on_bad, more, bad)


def _write_workload(
    out: Path,
    names: list[str],
    boxes: SubscriptionTable | TopicColumn,
    points: EventTable | TopicColumn | None,
    seed: int,
    on_bad: OnBad,
    more: Mapping[str, Any],
    bad_topics: Rejected | None = None,
) -> Workload:
    import pyarrow as pa

    schema = subscription_schema(names)
    if boxes.key:
        schema = schema.append(pa.field("key", pa.string()))

    def numbered(start: int, stop: int) -> list[NDArray[Any]]:
        ids = (words(seed, "subscription/ring_id", start, stop) >> np.uint64(1)).astype(np.int64)
        return [np.arange(start, stop), ids]

    aside = [Aside(kind, on_bad) for kind in ("topics", "subscriptions", "events")]
    if bad_topics is not None:
        aside[0].add(dict(zip(bad_topics.rows.tolist(), bad_topics.reasons, strict=True)))
    subscribers = _write_parts(out / "subscriptions", boxes, schema, numbered, aside[1])
    if not subscribers:
        raise InputError(f"{out}: expected at least one subscription to import, there is none")
    published = 0
    if points is not None:
        published = _write_parts(
            out / "events", points, event_schema(names), lambda a, b: [np.arange(a, b)], aside[2]
        )
    for rejected in aside:
        rejected.write(out)
    counts = {rejected.kind: rejected.count for rejected in aside if rejected.count}
    manifest = {"attributes": names, "seed": seed, "subscribers": subscribers, "events": published}
    write_manifest(out, {**manifest, **more, "rejected": counts})
    return open_workload(out)


def _write_parts(folder: Path, table: Pieces, schema: pa.Schema, numbered: Any, aside: Aside) -> int:
    """Write the valid rows file by file; return their number."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    written = size = 0

    def write(rows: int) -> None:
        nonlocal waiting, written, size
        whole = pa.concat_tables(waiting).slice(0, rows) if waiting else schema.empty_table()
        rest = pa.concat_tables(waiting).slice(rows) if waiting else whole
        write_part(part(folder, written // ROWS_PER_FILE), whole.combine_chunks())
        waiting, written, size = [rest], written + rows, size - rows

    ragged: set[int] = set()
    for piece in table.pieces():
        start, count = written + size, len(piece.columns[0])
        columns = [*numbered(start, start + count), *piece.columns]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
        waiting.append(pa.Table.from_arrays(arrays, schema=schema))
        size += count
        aside.add(piece.against | {row: why for row, why in table.rows.ragged.items() if row not in ragged})
        ragged.update(table.rows.ragged)
        while size >= ROWS_PER_FILE:
            write(ROWS_PER_FILE)
    aside.add({row: why for row, why in table.rows.ragged.items() if row not in ragged})
    aside.refuse_if_bad(written + size)
    if size:
        write(size)
    return written
