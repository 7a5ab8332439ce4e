"""What the cluster test runs, as a program of its own: a workload, its rings and a sweep on a master."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import workloads
from workloads.generate.generate import generate
from workloads.match.tiles import count_rings
from workloads.spark.session import spark_session
from workloads.sweeps.sweep import Sweep, sweep


def job(master: str | None, out: Path) -> None:
    plan = Sweep(
        "tests.workloads.sweeps.sweep_runs:product",
        {"a": [1, 13], "b": [2]},
        [0, 1],
        {"log": str(out.parent / "log")},
    )
    if master is None:
        work(None, plan, out)
    else:
        with spark_session(master) as spark:
            assert spark.sparkContext.master == master
            work(spark, plan, out)


def work(spark: Any, plan: Sweep, out: Path) -> None:
    workload = generate(workloads.named("uniform-3"), 3000, 500, 7, out / "w", at_least=0, spark=spark)
    count_rings(workload, spark)
    sweep(plan, out / "sweep", spark)


if __name__ == "__main__":
    job(sys.argv[1], Path(sys.argv[2]))
