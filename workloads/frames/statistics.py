"""Statistics of rings, as Spark SQL only."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)


def ring_statistics(match_counts: DataFrame, loads: DataFrame | None = None) -> DataFrame:
    """The distribution of ring lengths and, with loads, of rings and successors per subscriber on a ring.

    Columns: quantity string, count long, mean double, min long, p1 to p99.9 long, max long. Quantiles are
    exact up to ten thousand different values, and then off by at most a ten thousandth in rank.
    """
    found = [distribution(match_counts, "matches", "ring length")]
    if loads is not None:
        found += [distribution(loads, name, f"{name} per subscriber") for name in ("rings", "successors")]
    return reduce(lambda one, other: one.unionAll(other), found)


def distribution(frame: DataFrame, column: str, quantity: str) -> DataFrame:
    """The distribution of a column, one row as of `ring_statistics`; nulls are left out."""
    from pyspark.sql import functions as f

    whole = frame.agg(
        f.count(column).alias("count"), f.avg(column).alias("mean"), f.min(column).alias("min"),
        f.percentile_approx(column, list(_SHARES), 10_000).alias("at"), f.max(column).alias("max"),
    )  # fmt: skip
    quantiles = [f.col("at")[place].alias(f"p{100 * share:g}") for place, share in enumerate(_SHARES)]
    return whole.select(f.lit(quantity).alias("quantity"), "count", "mean", "min", *quantiles, "max")
