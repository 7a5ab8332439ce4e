"""The one place that starts Spark, gives it work, and stops it.

Local mode by default; on a cluster only the master's address changes. The interpreter of the workers is
the one running here unless PYSPARK_PYTHON says otherwise, our packages travel with the session, and
what they need (NumPy, numba, pyarrow) has to be installed where the workers run.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from workloads.spark import packages
from workloads.spark.java import java_home

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Progress", "StageProgress", "collect", "cores", "run_numbers", "run_tasks", "spark_session"]

Progress = Callable[[int, int], None]  # tasks done, tasks in all
StageProgress = Callable[[str, int, int], None]  # what is being done, tasks done, tasks in all

_LOOPBACK = ("local", "spark://127.0.0.1:", "spark://localhost:")
# Little runs in the JVM itself: a quick start is worth more than its best code.
_QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def _options(master: str) -> dict[str, str]:
    options = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith(_LOOPBACK):
        path = os.pathsep.join([str(packages.ROOT), os.environ.get("PYTHONPATH", "")])
        options |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": _QUICK_JVM,
            "spark.executor.extraJavaOptions": _QUICK_JVM,
            # The same machine: workers import the very files that run here, with their compiled kernels.
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(
                [str(packages.ROOT), os.environ.get("PYTHONPATH", "")]
            ),
        }
    return options


@contextmanager
def spark_session(master: str | None = None, memory: str = "1g") -> Iterator[SparkSession]:
    """A Spark session for the length of a `with` block; inside another such block, the same one.

    Parameters
    ----------
    master : str, optional
        `local[*]` by default: all cores of this machine; `spark://HOST:PORT` for a cluster.
    memory : str
        Of the driver, and of each executor.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("pyspark is not installed: expected pip install 'sub2sub[spark]'") from None
    if (active := SparkSession.getActiveSession()) is not None:
        yield active
        return
    master = master or "local[*]"
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent / "conf"))
    if master.startswith(_LOOPBACK):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with tempfile.TemporaryDirectory(prefix="sub2sub-spark-") as folder:
        builder = SparkSession.builder.appName("sub2sub").master(master)
        options = _options(master) | {
            "spark.driver.memory": memory,
            "spark.executor.memory": memory,
            "spark.sql.warehouse.dir": folder,
        }
        for key, value in options.items():
            builder = builder.config(key, value)
        try:
            spark = builder.getOrCreate()
        except Exception as failure:
            raise InputError(
                f"spark: cannot start a session on {master}: {_first_line(failure)}"
            ) from failure
        try:
            spark.sparkContext.setLogLevel("ERROR")
            if not master.startswith(_LOOPBACK):
                spark.sparkContext.addPyFile(str(packages.archive(Path(folder))))
            yield spark
        finally:
            spark.stop()


def _first_line(failure: Exception) -> str:
    return next(iter(str(failure).splitlines()), type(failure).__name__)


def cores(spark: SparkSession) -> int:
    """How many tasks run at the same time."""
    return int(spark.sparkContext.defaultParallelism)


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
    spark: SparkSession | None,
    count: int,
    function: Callable[[int], pa.Table],
    schema: pa.Schema,
    partitions: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Call `function(0)` to `function(count - 1)` on the workers and put the tables they return together.

    Parameters
    ----------
    spark : SparkSession, optional
        Without one, the calls are made here, one after the other.
    function : callable
        Takes a number, returns a table of exactly `schema`: columns are matched by position.
    partitions : int, optional
        How many Spark tasks share the calls; one each by default.
    progress : callable, optional
        Told how many tasks of how many are done.
    """
    if spark is None:
        return _run_here(count, function, schema, progress)
    from pyspark.sql.pandas.types import from_arrow_schema

    partitions = max(1, min(count, partitions or count))

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from function(number).cast(schema).to_batches()

    frame = spark.range(0, count, 1, partitions).mapInArrow(work, from_arrow_schema(schema))
    with _watched(spark, progress, partitions):
        table = collect(frame)
    return table.cast(schema)


def collect(frame: DataFrame) -> pa.Table:
    """All rows of a frame; a user's mistake that a task found is raised as it was there."""
    try:
        table: pa.Table = frame.toArrow()
    except Exception as failure:
        raise _as_raised(failure) from failure
    return table


def _as_raised(failure: Exception) -> Exception:
    """The mistake of a user that a task found, freed from Spark's account of it; anything else as it is."""
    mark = f"{InputError.__module__}.{InputError.__name__}: "
    lines = [line for line in str(failure).splitlines() if line.startswith(mark)]
    return InputError(lines[-1].removeprefix(mark)) if lines else failure


def _run_here(
    count: int, function: Callable[[int], pa.Table], schema: pa.Schema, progress: Progress | None
) -> pa.Table:
    import pyarrow as pa

    tables = []
    for number in range(count):
        tables.append(function(number).cast(schema))
        if progress is not None:
            progress(number + 1, count)
    return pa.concat_tables(tables) if tables else schema.empty_table()


def run_numbers(
    spark: SparkSession | None,
    numbers: range,
    task: Callable[[int], int],
    what: str,
    progress: StageProgress | None = None,
    partitions: int | None = None,
) -> NDArray[np.int64]:
    """Call a task that writes a file for each number; the number of rows that each wrote, in order.

    Examples
    --------
    >>> run_numbers(None, range(3, 6), lambda number: 10 * number, "tens").tolist()
    [30, 40, 50]
    """
    import pyarrow as pa

    schema = pa.schema([("place", pa.int64()), ("rows", pa.int64())])

    def call(place: int) -> pa.Table:
        return pa.table({"place": [place], "rows": [task(numbers[place])]}, schema=schema)

    report = None if progress is None else partial(progress, what)
    done = run_tasks(spark, len(numbers), call, schema, partitions, report).sort_by("place")
    rows: NDArray[np.int64] = done["rows"].to_numpy()
    return rows
