"""Numbered tasks on Spark's workers or in threads of this process, with the same result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.kernels.threads import use_threads
from workloads.files.environment import cores

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Spark: TypeAlias = "SparkSession | None"  # without one, tasks run in threads of this process
Progress = Callable[[int, int], None]  # tasks done, tasks in all
StageProgress = Callable[[str, int, int], None]  # what is being done, tasks done, tasks in all


def parallelism(spark: Spark) -> int:
    """How many tasks run at the same time."""
    return cores() if spark is None else int(spark.sparkContext.defaultParallelism)


@contextmanager
def _watched(spark: SparkSession, progress: Progress | None, total: int) -> Iterator[None]:
    """Report completed tasks twice a second while the block runs."""
    if progress is None:
        yield
        return
    over = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        while not over.wait(0.5):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = sum(stage.numCompletedTasks for stage in stages if stage)
            progress(min(done, total), total)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    progress(total, total)


def run_tasks(
    spark: Spark,
    count: int,
    function: Callable[[int], pa.Table],
    schema: pa.Schema,
    partitions: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Call `function(0)` to `function(count - 1)` on the workers and concatenate the tables they return.

    Parameters
    ----------
    spark : SparkSession, optional
        Without one, the calls are made in threads of this process, one per core.
    function : callable
        Takes a number, returns a table of exactly `schema`: columns are matched by position.
    partitions : int, optional
        How many Spark tasks share the calls; one each by default.
    progress : callable, optional
        Called with the number of finished tasks and of all.
    """
    if spark is None:
        return _run_here(count, function, schema, progress)
    from pyspark.sql.pandas.types import from_arrow_schema

    partitions = max(1, min(count, partitions or count))

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_threads(1)  # the other cores have tasks of their own
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from function(number).cast(schema).to_batches()

    frame = spark.range(0, count, 1, partitions).mapInArrow(work, from_arrow_schema(schema))
    with _watched(spark, progress, partitions):
        try:
            table: pa.Table = frame.toArrow()
        except Exception as failure:
            raise _as_raised(failure) from failure
    return table.cast(schema)


def _as_raised(failure: Exception) -> Exception:
    """The `InputError` that a task raised, without Spark's stack trace; any other error unchanged."""
    mark = f"{InputError.__module__}.{InputError.__name__}: "
    lines = [line for line in str(failure).splitlines() if line.startswith(mark)]
    return InputError(lines[-1].removeprefix(mark)) if lines else failure


def _run_here(
    count: int, function: Callable[[int], pa.Table], schema: pa.Schema, progress: Progress | None
) -> pa.Table:
    tables = []
    pool = ThreadPoolExecutor(cores())
    try:
        # Arrow, NumPy and the kernels release the interpreter's lock, so threads keep all cores busy.
        for table in pool.map(function, range(count)):
            tables.append(table.cast(schema))
            if progress is not None:
                progress(len(tables), count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return pa.concat_tables(tables) if tables else schema.empty_table()


def run_numbers(
    spark: Spark,
    numbers: range,
    task: Callable[[int], int],
    what: str,
    progress: StageProgress | None = None,
    partitions: int | None = None,
) -> NDArray[np.int64]:
    """Call a task for each number; return the number of rows that each call wrote, in order.

    Examples
    --------
    >>> run_numbers(None, range(3, 6), lambda number: 10 * number, "tens").tolist()
    [30, 40, 50]
    """
    schema = pa.schema([("place", pa.int64()), ("rows", pa.int64())])

    def call(place: int) -> pa.Table:
        return pa.table({"place": [place], "rows": [task(numbers[place])]}, schema=schema)

    report = None if progress is None else partial(progress, what)
    done = run_tasks(spark, len(numbers), call, schema, partitions, report).sort_by("place")
    rows: NDArray[np.int64] = done["rows"].to_numpy()
    return rows
