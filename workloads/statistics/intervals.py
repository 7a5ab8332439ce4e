"""Means over many runs with confidence intervals, in Spark SQL.

Rows of a run are averaged within the run first, so that every run counts once and the interval is over runs.
Which run a row belongs to says its column `run`; in tables without one, its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.spark.tasks import collect

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

VERIFIED = {"parquet.page.verify-checksum.enabled": "true"}  # by Spark, as `workloads.files.checked` does
_SHARES = ("links", "complete", "hit_ratio", "r2")


def quoted(name: str) -> str:
    """A name as a column of Spark SQL, whatever characters it has.

    Examples
    --------
    >>> quoted("layers.ring.max_age")
    '`layers.ring.max_age`'
    """
    return "`" + name.replace("`", "``") + "`"


def read_runs(spark: SparkSession, files: Sequence[Path]) -> DataFrame:
    """Parquet tables of many runs as one frame; each file is a run where the table does not say."""
    from pyspark.sql import functions as sql

    for file in files:
        if not file.exists():
            raise InputError(f"{file}: expected a Parquet file")
    if not files:
        raise InputError("statistics over runs: expected at least one file")
    frame = spark.read.options(mergeSchema="true", **VERIFIED).parquet(*(str(file) for file in files))
    return frame if "run" in frame.columns else frame.withColumn("run", sql.input_file_name())


def intervals(
    frame: DataFrame, by: Sequence[str], metrics: Sequence[str], confidence: float = 0.95
) -> pa.Table:
    """Mean over runs of each metric, for each combination of the columns `by`.

    Parameters
    ----------
    frame : DataFrame
        With a column `run`. Missing values and NaN do not count.
    by, metrics : sequence of str
        Columns to group by, and columns of numbers.

    Returns
    -------
    pyarrow Table
        The columns `by`, `metric`, `runs`, `mean`, `low` and `high` (Student's interval for the mean, cut off
        at 0 where no run is below it and at 1 for shares; empty for a single run), `least` and `greatest`.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence}: expected a number between 0 and 1")
    if not metrics:
        raise InputError("statistics over runs: expected at least one metric")
    for name in (*by, *metrics):
        if name not in frame.columns:
            raise InputError(f"no column {name!r}: expected one of {', '.join(frame.columns)}")
    keys = "".join(f"{quoted(name)}, " for name in by)
    labels = [name.replace("\\", "\\\\").replace("'", "\\'") for name in metrics]
    pairs = zip(labels, metrics, strict=True)
    stack = ", ".join(f"'{label}', cast({quoted(name)} as double)" for label, name in pairs)
    per_group = frame.sparkSession.sql(
        f"""with cells as (
              select {keys}run, stack({len(metrics)}, {stack}) as (metric, value) from {{rows}}),
            per_run as (
              select {keys}metric, run, avg(value) as value from cells
              where value is not null and not isnan(value) group by {keys}metric, run)
            select {keys}metric, count(*) as runs, avg(value) as mean, stddev_samp(value) as deviation,
                   min(value) as least, max(value) as greatest
            from per_run group by {keys}metric order by {keys}metric""",
        rows=frame,
    )
    return with_intervals(collect(per_group), by, confidence)


def with_intervals(table: pa.Table, by: Sequence[str], confidence: float = 0.95) -> pa.Table:
    """A table of `runs`, `mean`, `deviation`, `least` and `greatest` for each metric, with its intervals."""
    import pyarrow as pa
    from scipy import special

    runs, mean = table["runs"].to_numpy(), table["mean"].to_numpy()
    deviation = table["deviation"].to_numpy().astype(np.float64)
    reach = special.stdtrit(np.maximum(runs - 1, 1), 0.5 + confidence / 2) * deviation / np.sqrt(runs)
    single = runs < 2
    least, share = table["least"].to_numpy(), _are_shares(table["metric"].to_pylist())
    low = np.where(least >= 0, np.maximum(mean - reach, 0.0), mean - reach)
    high = np.where(share, np.minimum(mean + reach, 1.0), mean + reach)
    table = table.append_column("low", pa.array(low, mask=single))
    table = table.append_column("high", pa.array(high, mask=single))
    return table.select([*by, "metric", "runs", "mean", "low", "high", "least", "greatest"])


def _are_shares(metrics: Sequence[str]) -> NDArray[np.bool_]:
    """Which metrics cannot exceed 1, by their names."""
    return np.array([name in _SHARES or name.endswith(("_ratio", "_share")) for name in metrics], bool)
