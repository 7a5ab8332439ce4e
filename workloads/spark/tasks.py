"""Simulations as tasks of Spark, and the progress of Spark's tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from sub2sub.compiled.common.threads import use_threads
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Spark: TypeAlias = "SparkSession | None"  # without one, work is done in this process or in its children
StageProgress = Callable[[str, int, int], None]  # what is being done, tasks done, tasks in all


@contextmanager
def watched(spark: SparkSession, what: str, report: StageProgress | None) -> Iterator[None]:
    """Report the finished tasks, and all tasks, of the stages that run while the block does."""
    if report is None:
        yield
    elif is_remote(spark):

        def handle(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
            total = sum(stage.num_tasks for stage in stages)
            report(what, sum(stage.num_completed_tasks for stage in stages), total)

        handler: Any = handle
        spark.registerProgressHandler(handler)
        try:
            yield
        finally:
            spark.removeProgressHandler(handler)
    else:
        over = threading.Event()
        tracker = spark.sparkContext.statusTracker()

        def watch() -> None:
            while not over.wait(0.5):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                known = [stage for stage in stages if stage]
                done = sum(stage.numCompletedTasks for stage in known)
                report(what, done, sum(stage.numTasks for stage in known))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def is_remote(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, which has no `sparkContext`."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def run_tasks(
    spark: SparkSession, count: int, function: Callable[[int], str], report: StageProgress | None = None
) -> dict[int, str]:
    """Call `function(0)` to `function(count - 1)`, each a task, and return what each returns."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_threads(1)  # the other cores have tasks of their own
        for batch in batches:
            texts = pa.array([function(number) for number in batch.column(0).to_pylist()], pa.string())
            yield pa.record_batch([batch.column(0), texts], ["number", "text"])

    frame = spark.range(0, count, 1, max(1, count)).mapInArrow(work, "number long, text string")
    with watched(spark, "tasks", report):
        found = frame.toArrow()
    return dict(zip(found["number"].to_pylist(), found["text"].to_pylist(), strict=True))


def as_raised(failure: Exception) -> Exception:
    """The `InputError` that a task raised, without Spark's stack trace; any other error unchanged."""
    mark = f"{InputError.__module__}.{InputError.__name__}: "
    lines = [line for line in str(failure).splitlines() if line.startswith(mark)]
    return InputError(lines[-1].removeprefix(mark)) if lines else failure
