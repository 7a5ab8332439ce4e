"""Foreign tables described in TOML, so that runs and comparisons take them as they are.

    [table]
    file = "orders.csv"
    events = "trades.csv"           # a table of events; drawn from the interests if left out
    key = "customer"                # a column that names the subscribers
    delimiter = ";"
    decimal = ","

    [table.columns]                 # X_low and X_high of each X if left out
    price = ["min_price", "max_price"]
    city = "city"                   # an exact value

    [table.event_columns]           # where they are not called as the attributes are
    price = "amount"

    [table.types]                   # as the columns seem to be if left out
    city = "string"
    level = ["info", "warning", "error"]

With `[table.topics]` the interests are topics: `file = "tree.csv"`, `column`, `separator`, `implied` say
which there are, and `columns = { topic = "section" }` to which each row subscribes. Paths are relative to the
TOML file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sub2sub.errors import InputError
from workloads.folder.attribute_columns import find_types, guess_ranges
from workloads.folder.pieces import EventTable, SubscriptionTable, gather
from workloads.folder.stored import Stored, open_folder
from workloads.folder.tables import Rows, TextForm, is_table
from workloads.folder.topic_tables import TopicColumn, TreeForm, read_tree
from workloads.generate.topic_ranges import depth_first, last_below
from workloads.settings.documents import Document
from workloads.settings.models import table
from workloads.spec.types import KINDS, ValueType


@dataclass(frozen=True)
class TreeFile:
    """A table of topics.

    Attributes
    ----------
    file : path
        One topic per row.
    column : str
        Its column; `path` or `topic` if not given.
    separator : str
        Between the names of a path; a dot if not given.
    implied : bool
        Whether supertopics that are not listed are added.
    """

    file: Path
    column: str | None = None
    separator: str | None = None
    implied: bool = False


@dataclass(frozen=True)
class TableSettings:
    """Subscriptions and events in tables from elsewhere.

    Attributes
    ----------
    file : path
        The subscriptions: .csv, .tsv, also .gz; .parquet, .arrow, .feather, or a folder of Parquet files.
    events : path
        The events.
    columns : table
        Attribute to a column, or to a list of two: low and high.
    event_columns : table
        Attribute to its column of the events, where it is called otherwise.
    types : table
        Attribute to float, int, bool, string, timestamp, date, enum, or to the list of an enum's values.
    key : str
        A column that names the subscribers.
    delimiter, decimal, thousands, encoding : str
        Of text files, as in `sub2sub workload import`.
    topics : TreeFile
        The tree, where interests are topics.
    """

    file: Path
    events: Path | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    event_columns: dict[str, Any] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    key: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    topics: TreeFile | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be columns or types."""
        for name, where in self.columns.items():
            pair = isinstance(where, list | tuple) and len(where) == 2 and all(map(_is_text, where))
            if not (_is_text(where) or pair):
                raise InputError(f"columns.{name}: expected a column or a list of two, got {where!r}")
        for name, where in self.event_columns.items():
            if not _is_text(where):
                raise InputError(f"event_columns.{name}: expected a column, got {where!r}")
        for name, kind in self.types.items():
            if kind not in KINDS and not (isinstance(kind, list) and all(map(_is_text, kind))):
                raise InputError(
                    f"types.{name}: expected one of {', '.join(KINDS)}, or a list of texts, got {kind!r}"
                )

    @property
    def form(self) -> TextForm:
        """How text files are written."""
        return TextForm(self.delimiter, self.decimal, self.thousands, self.encoding)

    def open(self, name: str) -> Stored:
        """Read the tables; a row that cannot be used is refused."""
        return self._open_topics(self.topics, name) if self.topics else self._open_ranges(name)

    def _open_ranges(self, name: str) -> Stored:
        rows, published = Rows(self.file, self.form), Rows(self.events, self.form) if self.events else None
        mapping = {key: where if _is_text(where) else tuple(where) for key, where in self.columns.items()}
        columns = mapping or guess_ranges(rows)
        at_events = {key: self.event_columns.get(key, key) for key in columns}
        given = {key: ValueType("enum", tuple(kind)) if isinstance(kind, list) else kind
                 for key, kind in self.types.items()}  # fmt: skip
        types = find_types(rows, columns, published, at_events, given)
        boxes = SubscriptionTable(rows, columns, types, key=self.key)
        found, bad = gather(boxes, 2 * len(columns) + bool(self.key))
        bad.refuse(str(self.file))
        points = np.empty((0, len(columns)))
        if published is not None:
            events, bad = gather(EventTable(published, at_events, types), len(columns))
            bad.refuse(str(self.events))
            points = np.stack(events, axis=1)
        ends = found[: 2 * len(columns)]
        keys = found[-1].tolist() if self.key else None
        return Stored(
            name, types, np.stack(ends[::2], axis=1), np.stack(ends[1::2], axis=1), points, keys=keys
        )

    def _open_topics(self, tree: TreeFile, name: str) -> Stored:
        if set(self.columns) - {"topic"} or set(self.event_columns) - {"topic"} or self.types:
            raise InputError("columns: expected topic = COLUMN only, as interests are topics")
        paths, _ = read_tree(
            tree.file, tree.column, form=self.form, separator=tree.separator, implied=tree.implied
        )
        topics = depth_first(tuple(paths))
        number = {path: place for place, path in enumerate(topics)}
        form = TreeForm(tree.separator, tree.implied)
        column = self.columns.get("topic", "topic")
        boxes = TopicColumn(Rows(self.file, self.form), column, number, form, last_below(topics), self.key)
        found, bad = gather(boxes, 2 + bool(self.key))
        bad.refuse(str(self.file))
        points = np.empty((0, 1))
        if self.events is not None:
            at = self.event_columns.get("topic", "topic")
            events, bad = gather(TopicColumn(Rows(self.events, self.form), at, number, form), 1)
            bad.refuse(str(self.events))
            points = events[0][:, None]
        keys = found[2].tolist() if self.key else None
        lows, highs = found[0][:, None], found[1][:, None]
        return Stored(name, {"topic": ValueType("int")}, lows, highs, points, keys=keys, topics=topics)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


@dataclass(frozen=True)
class TableWorkload:
    """A workload that is stored in tables."""

    table: TableSettings


TABLE_WORKLOAD = table(TableWorkload)
"""The type of a description of tables, for `workloads.settings`."""


def is_stored(path: Path) -> bool:
    """Whether a path is a workload folder, a table, or a TOML file that describes one."""
    if path.suffix == ".toml":
        return path.is_file() and "table" in Document.open(path).data
    return (path / "manifest.json").exists() or path.is_dir() or is_table(path)


def stored_files(path: Path) -> list[Path]:
    """The files that say what is stored: a folder's manifest, a table, a description and what it names."""
    if path.suffix == ".toml":
        described: TableWorkload = Document.open(path).read(TABLE_WORKLOAD)
        settings = described.table
        tree = settings.topics.file if settings.topics else None
        return [path, *(file for file in (settings.file, settings.events, tree) if file and file.is_file())]
    return [file for file in (path / "manifest.json", path) if file.is_file()]


def open_stored(path: Path) -> Stored:
    """The interests in a workload folder, a table, or the tables that a TOML file describes."""
    if (path / "manifest.json").exists():
        return open_folder(path)
    if path.suffix == ".toml":
        described: TableWorkload = Document.open(path).read(TABLE_WORKLOAD)
        return described.table.open(path.stem)
    return TableSettings(path).open(path.stem)
