"""The ranges of each attribute: their ends, open ends, widths, and the interest along the attribute's axis.

An end of a range is open if it is infinite, or if the range is not an exact value and extends to the end of
its axis, as wildcards do. The density of interest at a value is the share of subscriptions whose range
contains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workloads.arrays import Floats
from workloads.frames import blocks
from workloads.frames.saved import Attribute

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Attributes = Mapping[str, Attribute]

_POINTS = 256  # at which density is given
_KNOTS = 1000  # quantiles of widths that are kept


def width(name: str) -> Column:
    """The width of an attribute's range; null if it is infinite."""
    from pyspark.sql import functions as f

    found = f.col(f"{name}_high") - f.col(f"{name}_low")
    return f.when(found < np.inf, found)


def shares(subscriptions: DataFrame, attributes: Attributes) -> pa.Table:
    """Each attribute's type and axis, and the shares of ranges with an open low, an open high, exact values.

    `least` and `greatest` are the finite ends, as coordinates, `first` and `last` their values as text.
    """
    from pyspark.sql import functions as f

    columns = []
    for name, own in attributes.items():
        low, high = f.col(f"{name}_low"), f.col(f"{name}_high")
        found = {
            "least": f.min(f.when(low > -np.inf, low)), "greatest": f.max(f.when(high < np.inf, high)),
            "open_low": f.avg(((low < high) & (low <= own.ends[0])).cast("int")),
            "open_high": f.avg(((low < high) & (high >= own.ends[1])).cast("int")),
            "exact": f.avg((low == high).cast("int")),
        }  # fmt: skip
        columns.append(f.struct(*(value.alias(key) for key, value in found.items())).alias(name))
    (found,) = blocks.ranges(subscriptions).agg(*columns).toArrow().to_pylist()
    rows = []
    for name, own in attributes.items():
        least, greatest = found[name]["least"], found[name]["greatest"]
        ends = (-np.inf, np.inf) if least is None or greatest is None else (least, greatest)
        first, last = (own.kind.text(end) for end in ends)
        rows.append({"attribute": name, "type": own.kind.kind, "first": first, "last": last} | found[name])
    return pa.Table.from_pylist(rows)


def widths(subscriptions: DataFrame, attributes: Attributes) -> pa.Table:
    """Quantiles of the widths of each attribute: width, its text, the share of the subscriptions at it."""
    from pyspark.sql import functions as f

    at = (np.arange(_KNOTS + 1) / _KNOTS).tolist()
    knots = [f.percentile_approx(width(name), at, 10_000).alias(name) for name in attributes]
    (found,) = blocks.ranges(subscriptions).agg(*knots).toArrow().to_pylist()
    tables = []
    for name, own in attributes.items():
        values, times = np.unique(np.array(found[name] or [], float), return_counts=True)
        texts = pa.array([own.kind.width(value) for value in values.tolist()], pa.string())
        columns = [pa.repeat(name, len(values)), values, texts, times / max(1, times.sum())]
        tables.append(pa.table(columns, ["attribute", "width", "text", "share"]))
    return pa.concat_tables(tables)


def density(subscriptions: DataFrame, attributes: Attributes, ranges: pa.Table) -> pa.Table:
    """Interest along each attribute: attribute, value, share of the subscriptions whose range contains it.

    `ranges` is what `shares` returns. `value` is a coordinate and `text` its value. An attribute with few
    values has a row for each.
    """
    points = {
        row["attribute"]: _points(attributes[row["attribute"]], row["least"], row["greatest"])
        for row in ranges.to_pylist()
        if row["least"] is not None and row["greatest"] is not None
    }

    def work(batches: blocks.Batches) -> Iterator[pa.RecordBatch]:
        for table in blocks.gathered(batches, blocks.ROWS):
            for name, x in points.items():
                low, high = (np.sort(table[f"{name}_{end}"].to_numpy()) for end in ("low", "high"))
                inside = np.searchsorted(low, x, side="right") - np.searchsorted(high, x, side="left")
                yield blocks.row(attribute=name, rows=table.num_rows, inside=inside.tolist())

    schema = "attribute string, rows long, inside array<long>"
    found = blocks.ranges(subscriptions).mapInArrow(work, schema).toArrow().to_pylist()
    tables = []
    for name, x in points.items():
        own = [row for row in found if row["attribute"] == name]
        share = np.sum([row["inside"] for row in own], axis=0) / sum(row["rows"] for row in own)
        columns: list[Any] = [pa.repeat(name, len(x)), x, attributes[name].kind.texts(x), share]
        tables.append(pa.table(columns, ["attribute", "value", "text", "share"]))
    return pa.concat_tables(tables) if tables else pa.table({})


def _points(own: Attribute, first: float, last: float) -> Floats:
    """The coordinates at which density is given."""
    few = own.kind.is_whole and last - first < 2 * _POINTS
    x = np.arange(first, last + 1) if few else np.linspace(first, last, _POINTS)
    # Even coordinates are strings that no subscription names.
    return x[x % 2 == 1] if few and own.kind.kind == "string" and own.kind.values else x
