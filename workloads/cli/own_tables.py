"""Options that describe own tables: for `workload import`, and for commands that use a table without an
import."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from sub2sub.errors import InputError
from workloads.files.atomic import write_text
from workloads.folder.tables import TextForm
from workloads.spec.types import KINDS, Kind, ValueType

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class OwnTable:
    """What the options say about the tables of subscriptions and events."""

    events: str | None = None
    columns: dict[str, str | tuple[str, str]] = field(default_factory=dict)
    event_columns: dict[str, str] = field(default_factory=dict)
    types: dict[str, ValueType | Kind] = field(default_factory=dict)
    key: str | None = None
    form: TextForm = field(default_factory=TextForm)

    def topic_columns(self) -> dict[str, str]:
        """The columns of topics; other attributes are refused."""
        if {*self.columns, *self.event_columns} - {"topic"} or self.types:
            raise InputError("--column: expected topic=COL with --topics, and no --type")
        return {"column": str(self.columns.get("topic", "topic")),
                "event_column": self.event_columns.get("topic", "topic")}  # fmt: skip

    def changes(self, table: Path | None) -> list[str]:
        """The settings of an experiment on all rows of a table; none without a table."""
        if table is None:
            if self != OwnTable():
                raise InputError("--column and other options of tables: expected --table with them")
            return []
        described = json.dumps(str(self.described(table).resolve()))
        return [f"workload.table={described}", "population.size=0"]

    def described(self, table: Path) -> Path:
        """A table as simulations read it: itself, or a .toml file in the cache that describes its columns.

        The name of the file is that of the table, and its folder is named after its contents.
        """
        if self == OwnTable():
            return table
        types = {
            name: list(kind.values) if isinstance(kind, ValueType) else kind
            for name, kind in self.types.items()
        }
        values: dict[str, Any] = {
            "file": str(table.resolve()), "events": self.events and str(Path(self.events).resolve()),
            "columns": self.columns, "event_columns": self.event_columns, "types": types, "key": self.key,
            **vars(self.form),
        }  # fmt: skip
        import tomlkit  # not for commands without a table

        given = {name: value for name, value in values.items() if value is not None}
        text = tomlkit.dumps({"table": given})
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        name = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        return write_text(base / "sub2sub" / "tables" / name / f"{table.stem}.toml", text)


def table_options(command: F) -> F:
    """Add the options that describe own tables; the command gets them as `own`."""
    options = [
        click.option("--event-table", metavar="FILE", help="Table of events."),
        click.option(
            "--column", "columns", multiple=True, metavar="X=LOW,HIGH",
            help="Columns with the range of attribute X, or X=COL for exact values.",
        ),
        click.option(
            "--event-column", "event_columns", multiple=True, metavar="X=COL",
            help="Column of attribute X in the table of events.",
        ),
        click.option(
            "--type", "types", multiple=True, metavar="X=TYPE",
            help="Type of attribute X: float, int, bool, string, timestamp, date, enum, enum:A,B,C; guessed "
            "from its columns if not given.",
        ),
        click.option("--key", metavar="COL", help="Column with the names of the subscribers, kept."),
        click.option(
            "--delimiter", metavar="CHAR",
            help="Character between values of CSV files; a comma by default, a tab for .tsv.",
        ),
        click.option("--decimal", metavar="CHAR", default=".", help="Decimal point of numbers in CSV files."),
        click.option(
            "--thousands", metavar="CHAR", default="", show_default=False,
            help="Thousands separator of numbers in CSV files: '.' in 1.000,5.",
        ),
        click.option("--encoding", default="utf-8", help="Encoding of CSV files."),
    ]  # fmt: skip

    @functools.wraps(command)
    def called(
        *arguments: Any, event_table: str | None, columns: tuple[str, ...], event_columns: tuple[str, ...],
        types: tuple[str, ...], key: str | None, delimiter: str | None, decimal: str, thousands: str,
        encoding: str, **others: Any,
    ) -> Any:  # fmt: skip
        own = OwnTable(
            event_table,
            {name: _ends(value) for name, value in _pairs(columns)},
            dict(_pairs(event_columns)),
            {name: _type(name, value) for name, value in _pairs(types)},
            key,
            TextForm(delimiter, decimal, thousands, encoding),
        )
        return command(*arguments, own=own, **others)

    decorated: Any = called
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _pairs(options: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for option in options:
        name, equals, value = option.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option!r}: expected ATTRIBUTE=COLUMN")
        if name in dict(pairs):
            raise InputError(f"{option!r}: expected each attribute once, {name!r} is given twice")
        pairs.append((name, value))
    return pairs


def _type(name: str, value: str) -> ValueType | Kind:
    """Read a type from an option; an enum may be given with or without its values."""
    word, colon, values = value.partition(":")
    if word not in KINDS or (colon and word not in ("enum", "string")):
        raise InputError(f"--type {name}={value}: expected one of {', '.join(KINDS)}, or enum:A,B,C")
    return ValueType(word, tuple(values.split(","))) if colon else word


def _ends(value: str) -> str | tuple[str, str]:
    low, comma, high = value.partition(",")
    return (low, high) if comma else value
