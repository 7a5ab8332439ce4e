"""Own tables as subscriptions and events: columns converted by type, and rows that cannot be used set apart.

The same conversion as for tables in memory (`workloads.folder.columns`) runs on the workers, batch by
batch. Nulls, NaN, reversed ranges, values of another type, damaged lines and repeated IDs are never dropped
silently: such rows come back in `rejected`, with the reason and all their values as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sub2sub.errors import InputError
from workloads.folder.attribute_columns import Columns
from workloads.folder.foreign import range_tables
from workloads.folder.pieces import Conversion, Pieces
from workloads.folder.tables import Batch, Rows, TextForm
from workloads.folder.topic_tables import topic_columns
from workloads.frames.blocks import Batches
from workloads.frames.generate import ring_ids
from workloads.spec.types import Kind, ValueType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DAMAGED = "_damaged"  # column with the text of a line that is no row, as Spark's reader of CSV fills it
_ID = ValueType("int")
_AGAINST = ["reason", "row"]


class Checked(NamedTuple):
    """Usable rows, and the others: table string, reason string, row string (all values, as JSON)."""

    subscriptions: DataFrame
    events: DataFrame | None
    rejected: DataFrame


class FrameRows(Rows):
    """A DataFrame where conversions expect the rows of a table: types are guessed from a thousand values."""

    def __init__(self, frame: DataFrame, what: str, form: TextForm | None = None) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        self.frame, self.form, self.ragged = frame, form or TextForm(), {}
        self.shown = what
        self.schema = to_arrow_schema(frame.schema)

    @property
    def what(self) -> str:
        """The table, for error messages."""
        return self.shown

    def first_values(self, column: str, most: int) -> list[Any]:
        """The first values of a column, without nulls."""
        return list(self._column(column).dropna().limit(most).toArrow().column(0).to_pylist())

    def distinct(self, column: str) -> list[Any]:
        """The distinct values of a column."""
        return list(self._column(column).distinct().toArrow().column(0).to_pylist())

    def _column(self, name: str) -> DataFrame:
        from pyspark.sql import functions as f

        self.require([name])
        return self.frame.select(f.col(f"`{name}`"))


def checked(
    subscriptions: DataFrame,
    events: DataFrame | None = None,
    columns: Columns | None = None,
    event_columns: Mapping[str, str] | None = None,
    types: Mapping[str, ValueType | Kind] | None = None,
    *,
    key: str | None = None,
    id: str | None = None,
    event_id: str | None = None,
    form: TextForm | None = None,
    seed: int = 0,
    called: tuple[str, str] = ("subscriptions", "events"),
) -> Checked:
    """Subscriptions and events of own tables, with a ring ID for each subscriber.

    Parameters
    ----------
    columns, event_columns : mapping, optional
        The columns of each attribute, (low, high) or one for exact values; X_low and X_high if not given.
        A null end of a range is open.
    types : mapping, optional
        Types of attributes; those of the columns, or guessed from text, if not given. The type is in the
        metadata of the column X_low.
    key : str, optional
        Column that names subscribers, which becomes `key`; several may have the same name.
    id, event_id : str, optional
        Columns of whole numbers that become `subscriber` and `event`; rows with the same number are rejected.
        Otherwise rows are numbered from 0 in the order of the frame, which files have and shuffles have not.
    called : pair of str
        What error messages call the two tables.
    """
    wanted = FrameRows(subscriptions, called[0], form)
    published = None if events is None else FrameRows(events, called[1], form)
    boxes, points = range_tables(wanted, published, columns, event_columns, types, key=key)
    names = list(boxes.columns)
    for name in names:
        if not name.isidentifier():
            raise InputError(f"attribute name = {name!r}: expected letters, digits and _ only")
    return _checked(subscriptions, boxes, events, points, names, dict(boxes.types), id, event_id, seed)


def checked_topics(
    paths: list[str], subscriptions: DataFrame, events: DataFrame | None, seed: int = 0, **options: Any
) -> tuple[tuple[str, ...], Checked]:
    """The topics of a tree, depth first, and subscriptions to and events of them."""
    wanted = FrameRows(subscriptions, "subscriptions")
    published = None if events is None else FrameRows(events, "events")
    topics, boxes, points = topic_columns(paths, wanted, published, **options)
    types = {"topic": ValueType("int")}
    return topics, _checked(subscriptions, boxes, events, points, ["topic"], types, None, None, seed)


def _checked(
    subscriptions: DataFrame, boxes: Pieces, events: DataFrame | None, points: Pieces | None,
    names: list[str], types: Mapping[str, ValueType], id: str | None, event_id: str | None, seed: int,
) -> Checked:  # fmt: skip
    ends = [f"{name}_{end}" for name in names for end in ("low", "high")]
    wanted, rejected = _apart(subscriptions, boxes, ends, id, "subscriber")
    wanted = ring_ids(wanted, *(["key"] if boxes.key else []), "subscriber", seed=seed)
    order = ["subscriber", "ring_id", *ends, *(["key"] if boxes.key else [])]
    rows, published = typed(wanted.select(order), types), None
    rejected = _named(rejected, "subscriptions")
    if events is not None and points is not None:
        published, more = _apart(events, points, names, event_id, "event")
        published, rejected = published.select("event", *names), rejected.unionAll(_named(more, "events"))
    return Checked(rows, published, rejected)


def typed(subscriptions: DataFrame, types: Mapping[str, ValueType]) -> DataFrame:
    """Subscriptions with the type of each attribute X in the metadata of the column X_low."""
    for name, kind in types.items():
        subscriptions = subscriptions.withMetadata(f"{name}_low", kind.to_dict())
    return subscriptions


def _named(rejected: DataFrame, table: str) -> DataFrame:
    from pyspark.sql import functions as f

    return rejected.select(f.lit(table).alias("table"), *_AGAINST)


def _apart(
    frame: DataFrame, table: Pieces, names: list[str], id: str | None, number: str
) -> tuple[DataFrame, DataFrame]:
    """The rows that can be used, with a number each, and the others with the reason."""
    from pyspark.sql import functions as f

    converted = _converted(frame, table, names, id)
    good = converted.where("reason IS NULL").drop(*_AGAINST)
    bad = converted.where("reason IS NOT NULL").select(_AGAINST)
    if id is None:
        return numbered(good, number), bad
    twice = good.groupBy("id").count().where("count > 1").select("id")
    reason = f.concat(f.lit(f"{id}: "), f.col("id").cast("string"), f.lit(" again, expected each ID once"))
    again = good.join(twice, "id", "left_semi").select(reason, f.to_json(f.struct("*")))
    return good.join(twice, "id", "left_anti").withColumnRenamed("id", number), bad.unionAll(again)


def _converted(frame: DataFrame, table: Pieces, names: list[str], id: str | None) -> DataFrame:
    """All rows: their ID and key if they have any, coordinates; for invalid ones the reason and the row."""
    from pyspark.sql import functions as f

    form, key, convert = table.rows.form, table.key, replace(table, rows=None)  # type: ignore[type-var]
    used = [*table.names(), *([key] if key else []), *([id] if id else [])]
    chosen = list(dict.fromkeys([*used, *({DAMAGED} & {*frame.columns})]))
    FrameRows(frame, table.rows.what).require(chosen)

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            conversion = Conversion(Batch(batch, np.arange(batch.num_rows)), form)
            if DAMAGED in batch.schema.names:
                lines = batch.column(DAMAGED)
                conversion.reject(
                    lines.is_valid().to_numpy(zero_copy_only=False),
                    lambda row, lines=lines: f"damaged line {lines[row].as_py()!r}",  # type: ignore[misc]
                )
            ids = [conversion.values(id, id, _ID).astype(np.float64)] if id else []
            columns = [*ids, *([conversion.keys(key)] if key else []), *convert.convert(conversion)]
            reasons = [conversion.reasons.get(row) for row in range(batch.num_rows)]
            rows = [
                None if reason is None else json.dumps(batch.slice(row, 1).to_pylist()[0], default=str)
                for row, reason in enumerate(reasons)
            ]
            arrays = [pa.array(column) for column in columns]
            texts = [pa.array(column, pa.string()) for column in (reasons, rows)]
            yield pa.record_batch([*arrays, *texts], schema_names)

    schema_names = [*(["id"] if id else []), *(["key"] if key else []), *names, *_AGAINST]
    kinds = dict.fromkeys(["key", *_AGAINST], "string")
    schema = ", ".join(f"{name} {kinds.get(name, 'double')}" for name in schema_names)
    found = frame.select([f.col(f"`{name}`") for name in chosen]).mapInArrow(work, schema)
    return found.withColumn("id", f.col("id").cast("long")) if id else found


def numbered(frame: DataFrame, name: str) -> DataFrame:
    """The rows with numbers from 0, in the order of the frame, in a first column `name`."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    place, part = f.col("_place"), f.shiftright("_place", 33)  # partition, and row in it
    placed = frame.withColumn("_place", f.monotonically_increasing_id()).withColumn("_part", part)
    counts = placed.groupBy("_part").count()
    before = f.sum("count").over(Window.orderBy("_part")) - f.col("count")
    offsets = f.broadcast(counts.select("_part", before.alias("_before")))
    number = f.col("_before") + place.bitwiseAND(f.lit(2**33 - 1))
    return placed.join(offsets, "_part").select(number.alias(name), *frame.columns)
