"""Statistics over many runs: means with confidence intervals, in Spark SQL.

A run's table is any Parquet file with a column to group by (a cycle, a setting) and columns of numbers.
Many such tables are read as one; each file is a run, and the interval is over runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sub2sub.errors import InputError
from workloads.statistics import markdown
from workloads.tables import whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["summarise", "summarise_to"]


def summarise(
    spark: SparkSession,
    files: Sequence[Path],
    by: Sequence[str],
    metrics: Sequence[str],
    confidence: float = 0.95,
) -> pa.Table:
    """Mean over runs of each metric, for each combination of the columns `by`.

    Within a run, rows of the same group are averaged first, so that every run counts once.

    Returns
    -------
    pyarrow Table
        The columns `by`, `metric`, `runs`, `mean`, `low` and `high` (Student's interval for the mean; empty
        for a single run), `least` and `greatest`.
    """
    from scipy import special

    if not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence}: expected a number between 0 and 1")
    if not files or not metrics:
        raise InputError("statistics over runs: expected at least one file and one metric")
    frame = spark.read.option("mergeSchema", "true").parquet(*map(str, files))
    for name in (*by, *metrics):
        if name not in frame.columns:
            raise InputError(f"no column {name!r}: expected one of {', '.join(frame.columns)}")
    frame.createOrReplaceTempView("all_runs")
    keys = "".join(f"`{name}`, " for name in by)
    stack = ", ".join(f"'{name}', cast(`{name}` as double)" for name in metrics)
    order = ", ".join([*(f"`{name}`" for name in by), "metric"])
    table: pa.Table = spark.sql(
        f"""with cells as (
              select {keys}stack({len(metrics)}, {stack}) as (metric, value), input_file_name() as run
              from all_runs),
            per_run as (
              select {keys}metric, run, avg(value) as value from cells where value is not null
              group by {keys}metric, run)
            select {keys}metric, count(*) as runs, avg(value) as mean, stddev_samp(value) as deviation,
                   min(value) as least, max(value) as greatest
            from per_run group by {keys}metric order by {order}"""
    ).toArrow()
    import pyarrow as pa

    runs, mean = table["runs"].to_numpy(), table["mean"].to_numpy()
    deviation = table["deviation"].to_numpy().astype(np.float64)
    reach = special.stdtrit(np.maximum(runs - 1, 1), 0.5 + confidence / 2) * deviation / np.sqrt(runs)
    single = runs < 2
    table = table.append_column("low", pa.array(mean - reach, mask=single))
    table = table.append_column("high", pa.array(mean + reach, mask=single))
    return table.select([*by, "metric", "runs", "mean", "low", "high", "least", "greatest"])


def summarise_to(
    spark: SparkSession, files: Sequence[Path], by: Sequence[str], metrics: Sequence[str], out: Path
) -> pa.Table:
    """`summarise`, written to `runs.parquet` and `runs.md` of a folder too."""
    from pyarrow import parquet

    table = summarise(spark, files, by, metrics)
    with whole(out / "runs.parquet") as draft:
        parquet.write_table(table, draft)
    with whole(out / "runs.md") as draft:
        draft.write_text(f"# {len(files)} runs\n\n{markdown(table)}\n")
    return table
