"""Interest along each attribute and widths of ranges, computed in one pass over the subscriptions.

An end of a range is open if it is infinite, or if the range is not an exact value and extends to the end of
its axis, as wildcards do. The density of interest at a value is the share of subscriptions whose range
contains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workloads.arrays import Floats
from workloads.frames import blocks
from workloads.frames.saved import Attribute
from workloads.spec.types import ValueType
from workloads.statistics.spread import Spread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Types = Mapping[str, ValueType]

_SIDES = ("low", "high", "width")
_POINTS = 256  # at which density is given
_OPEN = ("low", "high", "exact")


@dataclass(frozen=True)
class Axis:
    """Ranges of one attribute: spreads of low, high and width; numbers of open lows, open highs and exact."""

    spreads: dict[str, Spread]
    counts: dict[str, int]

    def __getitem__(self, side: str) -> Spread:
        return self.spreads[side]


def axes(subscriptions: DataFrame, attributes: Mapping[str, Attribute]) -> dict[str, Axis]:
    """The statistics of each attribute's ranges; spreads do not include infinite ends and widths."""
    numbers = "array<double>"
    schema = f"attribute string, side string, total double, values {numbers}, weights {numbers}, special long"

    def work(batches: blocks.Batches) -> Iterator[pa.RecordBatch]:
        for table in blocks.gathered(batches, blocks.ROWS):
            lows, highs = blocks.boxes(table, list(attributes))
            yield from _block_axes(lows, highs, ends).to_batches()

    ends = {name: own.ends for name, own in attributes.items()}
    found = blocks.ranges(subscriptions).mapInArrow(work, schema).toArrow().to_pylist()
    return {name: _together([row for row in found if row["attribute"] == name]) for name in attributes}


def _together(rows: list[dict[str, Any]]) -> Axis:
    spreads, counts = {}, {}
    for side, special in zip(_SIDES, _OPEN, strict=True):
        pieces = [row for row in rows if row["side"] == side]
        spreads[side] = Spread.together(
            [Spread(np.array(row["values"]), np.array(row["weights"]), row["total"]) for row in pieces]
        )
        counts[special] = sum(row["special"] for row in pieces)
    return Axis(spreads, counts)


def _block_axes(lows: Floats, highs: Floats, ends: Mapping[str, tuple[float, float]]) -> pa.Table:
    rows = []
    for axis, (name, (first, last)) in enumerate(ends.items()):
        low, high = lows[:, axis], highs[:, axis]
        with np.errstate(invalid="ignore"):
            columns = {"low": low, "high": high, "width": high - low}
        wide = low < high
        special = {"low": wide & (low <= first), "high": wide & (high >= last), "width": ~wide}
        for side, column in columns.items():
            spread = Spread.of(column[np.isfinite(column)])
            rows.append(
                {"attribute": name, "side": side, "total": spread.total,
                 "values": spread.values.tolist(), "weights": spread.weights.tolist(),
                 "special": int(special[side].sum())}
            )  # fmt: skip
    return pa.Table.from_pylist(rows)


def shares(types: Types, found: dict[str, Axis], subscribers: int) -> pa.Table:
    """Each attribute's type and axis, and the shares of ranges with an open low, an open high, exact values.

    `least` and `greatest` are coordinates, `first` and `last` their values as text.
    """
    rows = []
    for name, axis in found.items():
        kind, n = types[name], max(1, subscribers)
        known = axis["low"].count and axis["high"].count
        least, greatest = (axis["low"].values[0], axis["high"].values[-1]) if known else (-np.inf, np.inf)
        rows.append(
            {"attribute": name, "type": kind.kind,
             "first": kind.text(float(least)), "last": kind.text(float(greatest)),
             "least": float(least) if known else None, "greatest": float(greatest) if known else None,
             "open_low": axis.counts["low"] / n, "open_high": axis.counts["high"] / n,
             "exact": axis.counts["exact"] / n}
        )  # fmt: skip
    return pa.Table.from_pylist(rows)


def density(types: Types, found: dict[str, Axis], subscribers: int) -> pa.Table:
    """Interest along each attribute: attribute, value, share of the subscriptions whose range contains it.

    `value` is a coordinate and `text` its value. An attribute with few values has a row for each.
    """
    tables = []
    for name, axis in found.items():
        if not axis["low"].count or not axis["high"].count:
            continue
        first, last = axis["low"].values[0], axis["high"].values[-1]
        kind = types[name]
        few = kind.is_whole and last - first < 2 * _POINTS
        x = np.arange(first, last + 1) if few else np.linspace(first, last, _POINTS)
        if kind.kind == "string" and kind.values and few:
            x = x[x % 2 == 1]  # even coordinates are strings that no subscription names
        begun = subscribers - axis["low"].count + axis["low"].below(x, True)
        share = (begun - axis["high"].below(x, False)) / max(1, subscribers)
        columns = {"attribute": pa.repeat(name, len(x)), "value": x, "text": kind.texts(x), "share": share}
        tables.append(pa.table(columns))
    empty = pa.schema(
        [("attribute", pa.string()), ("value", pa.float64()), ("text", pa.string()), ("share", pa.float64())]
    )
    return pa.concat_tables([empty.empty_table(), *tables])
