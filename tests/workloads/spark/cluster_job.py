"""What the cluster test runs, as a program of its own: a workload, its rings and a look at the workers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import workloads
from workloads.generate.generate import generate
from workloads.match.rings import list_rings
from workloads.match.tiles import count_rings
from workloads.spark.session import spark_session
from workloads.spark.tasks import run_tasks

SCHEMA = pa.schema([("folder", pa.string()), ("packages", pa.string()), ("experiment", pa.bool_())])


def look(number: int) -> pa.Table:
    """Where a task runs, whose packages it has, and whether an experiment that comes with them is there."""
    import os
    import time

    import workloads
    from sims.config.experiment import load_experiment
    from sims.config.shipped import find_file

    there = load_experiment(find_file("sub2sub-fig5")).cycles > 0
    time.sleep(1)  # long enough for the other worker to take one
    rows = {"folder": [os.getcwd()], "packages": [workloads.__file__], "experiment": [there]}
    return pa.table(rows, schema=SCHEMA)


def work(spark: Any, out: Path) -> None:
    workload = generate(workloads.named("uniform-3"), 3000, 500, 7, out / "w", at_least=0, spark=spark)
    count_rings(workload, spark)
    list_rings(workload, spark)


if __name__ == "__main__":
    master, driver, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    conf = {
        "spark.driver.host": driver,
        "spark.driver.bindAddress": driver,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
        "spark.cores.max": "2",
    }
    with spark_session(master, conf=conf) as session:
        parquet.write_table(run_tasks(session, 6, look, SCHEMA), folder / "tasks.parquet")
        work(session, folder)
