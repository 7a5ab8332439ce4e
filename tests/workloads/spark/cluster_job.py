"""What the cluster test runs, as a program of its own: rings, while a worker is killed that has a task."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pyarrow import parquet

import workloads
from workloads import frames
from workloads.spark.session import spark_session


def tell(spark: Any, folder: Path, seen: dict[str, Any]) -> None:
    """Make a file when every executor has a task of a stage; later, note whether tasks were repeated."""
    tracker = spark.sparkContext.statusTracker()
    while True:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage and stage.numActiveTasks >= 2 and stage.name.startswith("toArrow") for stage in stages):
            break
        time.sleep(0.05)
    (folder / "tasks-run").touch()


def slow(batches: Any) -> Any:
    """Batches as they are, late enough for a worker to be killed before them."""
    import time

    time.sleep(3)
    yield from batches


if __name__ == "__main__":
    master, driver, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    conf = {
        "spark.driver.host": driver,
        "spark.driver.bindAddress": driver,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "2",
    }
    with spark_session(master, conf=conf) as session:
        executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
        spec = workloads.named("uniform-3")
        wanted = frames.subscriptions(session, spec, 3000, 7)
        wanted = wanted.repartition(4).mapInArrow(slow, wanted.schema)
        rings = frames.rings(wanted, frames.candidates(session, spec, 500, 7))
        lost: dict[str, Any] = {"executors before": executors}
        threading.Thread(target=tell, args=(session, folder, lost), daemon=True).start()
        table = rings.toArrow()
        tracker = session.sparkContext.statusTracker()
        stages = [
            tracker.getStageInfo(stage)
            for job in tracker.getJobIdsForGroup()
            for stage in tracker.getJobInfo(job).stageIds
        ]
        lost["tasks ran twice"] = any(
            # A stage that is tried once more has an attempt of its own, without the failures before it.
            stage.numFailedTasks or stage.currentAttemptId
            for stage in stages
            if stage
        )
        (folder / "lost.json").write_text(json.dumps(lost))
        parquet.write_table(table, folder / "rings.parquet")
