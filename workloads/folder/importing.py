"""Imports foreign tables into a workload folder, for matching, statistics and simulations.

Tables are read in batches and written file by file: memory holds the rows of one file and the distinct values
of strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.files.digests import file_digest
from workloads.folder import layout
from workloads.folder.attribute_columns import Columns
from workloads.folder.foreign import range_tables
from workloads.folder.layout import Workload
from workloads.folder.new_folder import new_folder
from workloads.folder.pieces import Pieces
from workloads.folder.rejected import OnBad, Rejected, RejectedFile
from workloads.folder.tables import Rows, Source, TextForm
from workloads.folder.topic_tables import read_tree, topic_columns
from workloads.generate.rows import ring_ids
from workloads.spec.types import Kind, ValueType, types_to


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
        The columns of each attribute; see `workloads.folder.foreign`.
    types : mapping, optional
        Types of attributes; guessed from their columns if not given.
    on_bad : {"refuse", "set aside"}
        Whether invalid rows stop the import or are written to `rejected/` of the folder, with row number and
        reason; their number is in the manifest.
    seed : int
        Random seed of the sequence IDs.
    form : TextForm, optional
        Format of CSV files.
    key : str, optional
        Column with the names of the subscribers, written to a column `key` of `subscriptions/`.
    overwrite : bool
        Whether to replace a workload in the folder.

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
    published = None if events is None else Rows(events, form)
    boxes, points = range_tables(Rows(subscriptions, form), published, columns, event_columns, types, key=key)
    names = list(boxes.columns)
    for name in names:
        if not name.isidentifier():
            raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
    sources = describe_sources({"subscriptions": subscriptions, "events": events})
    sources["subscriptions"] |= {"columns": boxes.columns, "key": key}
    if points is not None:
        sources["events"]["columns"] = points.columns
    more = {"types": types_to(boxes.types), "sources": sources}
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
        As in `read_tree`.
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
    published = None if events is None else Rows(events, form)
    topics, boxes, points = topic_columns(
        paths, Rows(subscriptions, form), published,
        column=column, event_column=event_column, separator=separator, key=key,
    )  # fmt: skip
    sources = describe_sources({"topics": tree, "subscriptions": subscriptions, "events": events})
    sources["topics"] |= {"column": tree_column, "separator": separator, "implied": implied}
    sources["subscriptions"] |= {"columns": {"topic": column}, "key": key}
    if events is not None:
        sources["events"]["columns"] = {"topic": event_column}
    more = {"topics": len(topics), "types": types_to({"topic": ValueType("int")}), "sources": sources}
    with new_folder(out, overwrite):
        layout.write_topics(out, topics)
        return _write_workload(out, ["topic"], boxes, points, seed, on_bad, more, bad)


def describe_sources(given: Mapping[str, Any]) -> dict[str, Any]:
    """The sources of a workload, for its manifest: names, sizes and digests of files."""
    found: dict[str, Any] = {}
    for kind, source in given.items():
        path = Path(source) if isinstance(source, str | Path) else None
        if path is not None and path.is_file():
            found[kind] = {"file": path.name, "bytes": path.stat().st_size, "sha256": file_digest(path)}
        elif path is not None:
            files = sorted(file for file in path.rglob("*") if file.is_file())
            size = sum(file.stat().st_size for file in files)
            found[kind] = {"folder": path.name, "bytes": size, "sha256": file_digest(*files, root=path)}
        elif source is not None:
            found[kind] = {"type": type(source).__name__}
    return found


def _write_workload(
    out: Path,
    names: list[str],
    boxes: Pieces,
    points: Pieces | None,
    seed: int,
    on_bad: OnBad,
    more: Mapping[str, Any],
    bad_topics: Rejected | None = None,
) -> Workload:
    schema = layout.subscription_schema(names)
    if boxes.key:
        schema = schema.append(pa.field("key", pa.string()))

    def numbered(start: int, stop: int) -> list[NDArray[Any]]:
        return [np.arange(start, stop), ring_ids(seed, start, stop)]

    with ExitStack() as files:
        aside = [
            files.enter_context(closing(RejectedFile(kind, on_bad)))
            for kind in ("topics", "subscriptions", "events")
        ]
        if bad_topics is not None:
            aside[0].add(dict(zip(bad_topics.rows.tolist(), bad_topics.reasons, strict=True)))
        subscribers = _write_parts(out / "subscriptions", boxes, schema, numbered, aside[1])
        if not subscribers:
            raise InputError(f"{out}: expected at least one subscription to import, there is none")
        published = 0
        if points is not None:
            published = _write_parts(
                out / "events", points, layout.event_schema(names), lambda a, b: [np.arange(a, b)], aside[2]
            )
        for rejected in aside:
            rejected.write(out)
    counts = {rejected.kind: rejected.count for rejected in aside if rejected.count}
    manifest = {"attributes": names, "seed": seed, "subscribers": subscribers, "events": published}
    layout.write_manifest(out, {**manifest, **more, "rejected": counts})
    return layout.open_workload(out)


def _write_parts(folder: Path, table: Pieces, schema: pa.Schema, numbered: Any, aside: RejectedFile) -> int:
    """Write the valid rows file by file; return their number."""
    waiting, written, size = schema.empty_table(), 0, layout.ROWS_PER_FILE
    ragged: dict[int, str] = {}
    for piece in table.pieces():
        start = written + waiting.num_rows
        columns = [*numbered(start, start + len(piece.columns[0])), *piece.columns]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
        waiting = pa.concat_tables([waiting, pa.Table.from_arrays(arrays, schema=schema)])
        aside.add(piece.against | {row: why for row, why in table.rows.ragged.items() if row not in ragged})
        ragged.update(table.rows.ragged)
        while waiting.num_rows >= size:
            layout.write_part(folder, written // size, waiting.slice(0, size).combine_chunks())
            waiting, written = waiting.slice(size), written + size
    aside.add({row: why for row, why in table.rows.ragged.items() if row not in ragged})
    aside.refuse_if_bad(written + waiting.num_rows)
    if waiting.num_rows:
        layout.write_part(folder, written // size, waiting.combine_chunks())
    return int(written + waiting.num_rows)
