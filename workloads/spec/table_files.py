"""Foreign tables described in TOML, for runs and comparisons that use them without an import.

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

With `[table.topics]` the interests are topics: `file = "tree.csv"`, `column`, `separator` and `implied`
describe the tree, and `columns = { topic = "section" }` is the column with the topic of each subscription.
Paths are relative to the TOML file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sub2sub.errors import InputError
from workloads.folder.foreign import range_tables
from workloads.folder.pieces import Pieces, refuse
from workloads.folder.stored import Stored, open_folder
from workloads.folder.tables import Rows, TextForm, is_table
from workloads.folder.topic_tables import read_tree, topic_columns
from workloads.settings.documents import Document
from workloads.settings.models import table
from workloads.spec.types import KINDS, ValueType


@dataclass(frozen=True)
class TreeFile:
    """A table of topics.

    Attributes
    ----------
    file : path
        A table with one topic per row.
    column : str
        Its column; `path` or `topic` if not given.
    separator : str
        Text between the names of a path; a dot if not given.
    implied : bool
        Whether to add supertopics that are not listed.
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
        The column of each attribute, or a list of two columns: low and high.
    event_columns : table
        Columns of attributes in the table of events, if they have other names than the attributes.
    types : table
        The type of each attribute: float, int, bool, string, timestamp, date, enum, or a list of values.
    key : str
        Column with the names of the subscribers.
    delimiter, decimal, thousands, encoding : str
        Format of text files, as in `sub2sub workload import`.
    topics : TreeFile
        The tree of topics, if interests are topics.
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
        """Refuse invalid columns and types."""
        for name, where in self.columns.items():
            if not (isinstance(where, str) or (_are_texts(where) and len(where) == 2)):
                raise InputError(f"columns.{name}: expected a column or a list of two, got {where!r}")
        for name, where in self.event_columns.items():
            if not isinstance(where, str):
                raise InputError(f"event_columns.{name}: expected a column, got {where!r}")
        for name, kind in self.types.items():
            if kind not in KINDS and not _are_texts(kind):
                raise InputError(
                    f"types.{name}: expected one of {', '.join(KINDS)}, or a list of texts, got {kind!r}"
                )

    @property
    def form(self) -> TextForm:
        """Format of text files."""
        return TextForm(self.delimiter, self.decimal, self.thousands, self.encoding)

    def open(self, name: str) -> Stored:
        """Read the tables; an invalid row is an error."""
        rows, published = Rows(self.file, self.form), Rows(self.events, self.form) if self.events else None
        boxes: Pieces
        points: Pieces | None
        topics = None
        if self.topics is None:
            pairs = {name: tuple(at) if _are_texts(at) else at for name, at in self.columns.items()}
            given = {
                name: ValueType("enum", tuple(kind)) if _are_texts(kind) else kind
                for name, kind in self.types.items()
            }
            boxes, points = range_tables(rows, published, pairs, self.event_columns, given, key=self.key)
            types = dict(boxes.types)
        else:
            if set(self.columns) - {"topic"} or set(self.event_columns) - {"topic"} or self.types:
                raise InputError("columns: expected topic = COLUMN only, as interests are topics")
            tree, types = self.topics, {"topic": ValueType("int")}
            paths, against = read_tree(
                tree.file, tree.column, form=self.form, separator=tree.separator, implied=tree.implied
            )
            refuse("topics", against)
            at, at_events = (each.get("topic", "topic") for each in (self.columns, self.event_columns))
            topics, boxes, points = topic_columns(
                paths, rows, published,
                column=at, event_column=at_events, separator=tree.separator, key=self.key,
            )  # fmt: skip
        found = boxes.valid(str(self.file))
        events = points.valid(str(self.events)) if points else [np.empty(0)] * len(types)
        lows, highs = (np.stack(found[side : 2 * len(types) : 2], axis=1) for side in (0, 1))
        keys = found[-1].tolist() if self.key else None
        return Stored(name, types, lows, highs, np.stack(events, axis=1), keys=keys, topics=topics)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


@dataclass(frozen=True)
class TableWorkload:
    """A workload that is stored in tables."""

    table: TableSettings


TABLE_WORKLOAD = table(TableWorkload)
"""The type of a description of tables, for `workloads.settings`."""


def _described(path: Path) -> TableSettings:
    workload: TableWorkload = Document.open(path).read(TABLE_WORKLOAD)
    return workload.table


def is_stored(path: Path) -> bool:
    """Whether a path is a workload folder, a table, or a TOML file that describes tables."""
    if path.suffix == ".toml":
        return path.is_file() and "table" in Document.open(path).data
    return path.is_dir() or is_table(path)


def stored_files(path: Path) -> list[Path]:
    """The files that determine the data: those of a folder; a table; a description and its tables."""
    if path.suffix == ".toml":
        settings = _described(path)
        tree = settings.topics.file if settings.topics else None
        return [path, *(file for file in (settings.file, settings.events, tree) if file and file.is_file())]
    return [path] if path.is_file() else sorted(path.rglob("*.parquet"))


def open_stored(path: Path) -> Stored:
    """The interests in a workload folder, a table, or the tables that a TOML file describes."""
    if (path / "subscriptions").is_dir():
        return open_folder(path)
    return (_described(path) if path.suffix == ".toml" else TableSettings(path)).open(path.stem)
