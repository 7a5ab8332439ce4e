"""Where interest lies on each attribute, and how wide ranges are, from one pass over the files.

An end is open where it is infinite or lies at the end of its axis, which is how a wildcard is written. The
density of interest at a value is the share of subscriptions whose range holds it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workloads.folder.layout import Workload, parts, read_subscriptions
from workloads.spark.tasks import run_tasks
from workloads.statistics.spread import KNOTS, Spread

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["Axis", "axes", "density", "shares"]

_SIDES = ("low", "high", "width")
_POINTS = 256  # at which density is told
Axis = dict[str, Spread]  # low, high and width of one attribute's ranges


def axes(workload: Workload, spark: SparkSession | None = None, knots: int = KNOTS) -> dict[str, Axis]:
    """Spreads of the lows, highs and widths of each attribute's ranges; infinite ones are in none of them."""
    import pyarrow as pa

    files = parts(workload.folder.resolve() / "subscriptions", workload.subscribers)
    schema = pa.schema(
        [("attribute", pa.string()), ("side", pa.string()), ("total", pa.float64()),
         ("values", pa.list_(pa.float64())), ("weights", pa.list_(pa.float64()))]
    )  # fmt: skip
    task = partial(_file_axes, files, workload.names, schema, knots)
    pieces: dict[tuple[str, str], list[Spread]] = {
        (name, side): [] for name in workload.names for side in _SIDES
    }
    for row in run_tasks(spark, len(files), task, schema).to_pylist():
        spread = Spread(np.array(row["values"]), np.array(row["weights"]), row["total"])
        pieces[row["attribute"], row["side"]].append(spread)
    return {name: {side: Spread.together(pieces[name, side]) for side in _SIDES} for name in workload.names}


def _file_axes(files: list[Path], names: list[str], schema: pa.Schema, knots: int, number: int) -> pa.Table:
    import pyarrow as pa

    _, _, lows, highs = read_subscriptions(files[number], names)
    rows = []
    for axis, name in enumerate(names):
        with np.errstate(invalid="ignore"):
            columns = {"low": lows[:, axis], "high": highs[:, axis], "width": highs[:, axis] - lows[:, axis]}
        for side, column in columns.items():
            spread = Spread.of(column[np.isfinite(column)], knots)
            rows.append(
                {"attribute": name, "side": side, "total": spread.total, "values": spread.values,
                 "weights": spread.weights}
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=schema)


def shares(workload: Workload, found: dict[str, Axis]) -> pa.Table:
    """Each attribute's axis, and the shares of its ranges that are open below, open above, exact values."""
    import pyarrow as pa

    spec, n = workload.spec, max(1, workload.subscribers)
    ends = {a.name: (a.low, a.high) for a in spec.attributes} if spec else {}
    rows = []
    for name, axis in found.items():
        low, high = ends.get(name, (-np.inf, np.inf))
        open_low = workload.subscribers - axis["low"].count + axis["low"].below(np.array([low]), True)[0]
        inside = axis["high"].below(np.array([high]), False)[0]
        exact = axis["width"].below(np.array([0.0]), True)[0]
        known = axis["low"].count and axis["high"].count
        rows.append(
            {"attribute": name,
             "least": float(axis["low"].values[0]) if known else None,
             "greatest": float(axis["high"].values[-1]) if known else None,
             "open_low": open_low / n, "open_high": (workload.subscribers - inside) / n, "exact": exact / n}
        )  # fmt: skip
    return pa.Table.from_pylist(rows)


def density(workload: Workload, found: dict[str, Axis]) -> pa.Table:
    """Interest along each attribute: attribute, value, share of the subscriptions whose range holds it."""
    import pyarrow as pa

    tables = []
    for name, axis in found.items():
        if not axis["low"].count or not axis["high"].count:
            continue
        x = np.linspace(axis["low"].values[0], axis["high"].values[-1], _POINTS)
        begun = workload.subscribers - axis["low"].count + axis["low"].below(x, True)
        share = (begun - axis["high"].below(x, False)) / max(1, workload.subscribers)
        tables.append(pa.table({"attribute": pa.repeat(name, len(x)), "value": x, "share": share}))
    empty = pa.schema([("attribute", pa.string()), ("value", pa.float64()), ("share", pa.float64())])
    return pa.concat_tables([empty.empty_table(), *tables])
