"""Sessions: work runs without Spark, and a user's mistake found on a worker is an error of one line."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import workloads
from sub2sub.errors import InputError
from workloads.files.environment import cores
from workloads.generate.generate import generate
from workloads.match.tiles import count_rings, ring_sizes
from workloads.spark import session as session_module
from workloads.spark.session import spark_session
from workloads.spark.tasks import run_numbers, run_tasks

CONF = Path(session_module.__file__).parent / "conf"
SCHEMA = pa.schema([("number", pa.int64()), ("square", pa.float64())])


def square(number: int) -> pa.Table:
    if number == 13:
        raise InputError("number = 13: expected another one")
    return pa.table({"number": [number], "square": [number**2]})


def test_without_pyspark_everything_but_a_session_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    workload = generate(workloads.named("uniform-2"), 200, 20, seed=1, out=tmp_path / "w")
    count_rings(workload)
    assert ring_sizes(workload).min() >= 2
    with (
        pytest.raises(InputError, match=r"expected pip install 'sub2sub-overlays\[spark\]'"),
        spark_session(),
    ):
        pass


def test_tasks_give_the_same_table_here_and_on_spark(spark: Any) -> None:
    here = run_tasks(None, 7, square, SCHEMA)
    there = run_tasks(spark, 7, square, SCHEMA, partitions=3)
    assert here.schema == there.schema == SCHEMA
    assert there.sort_by("number") == here


def test_progress_ends_complete_on_spark(spark: Any) -> None:
    seen: list[tuple[str, int, int]] = []
    rows = run_numbers(
        spark, range(2, 6), lambda number: 10 * number, "tens", lambda *report: seen.append(report)
    )
    assert np.array_equal(rows, [20, 30, 40, 50])
    assert seen[-1] == ("tens", 4, 4)


def test_a_mistake_found_on_a_worker_is_told_in_one_line(spark: Any) -> None:
    with pytest.raises(InputError, match=r"^number = 13: expected another one$"):
        run_tasks(spark, 14, square, SCHEMA, partitions=2)


def test_a_session_inside_a_session_is_the_same_one(spark: Any) -> None:
    with spark_session() as inner:
        assert inner is spark
    assert spark.range(3).count() == 3


def test_settings_come_from_the_caller_then_the_installation_then_from_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own, since a session in this one would be taken."""
    (tmp_path / "spark-defaults.conf").write_text(
        "# comment\nspark.sql.session.timeZone  Europe/Zurich\nspark.driver.memory=600m\n"
    )
    (tmp_path / "log4j2.properties").write_text((CONF / "log4j2.properties").read_text())
    code = """
from workloads.spark.session import spark_session
with spark_session("local[1]", conf={"spark.sql.shuffle.partitions": "7"}, memory="700m") as spark:
    names = ("shuffle.partitions", "session.timeZone", "execution.arrow.pyspark.enabled")
    print(*(spark.conf.get(f"spark.sql.{name}") for name in names))
    conf = spark.sparkContext.getConf()
    print(conf.get("spark.driver.memory"), conf.get("spark.master"))
    # A task that fails once is tried again, here as on a cluster.
    from pathlib import Path
    mark = Path("MARK")
    def fail_once(number):
        if not mark.exists():
            mark.touch()
            raise OSError("a disk that was busy")
        return number
    print(*spark.sparkContext.parallelize([5], 1).map(fail_once).collect())
""".replace("MARK", str(tmp_path / "mark"))
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines() == ["7 Europe/Zurich true", "700m local[1,4]", "5"]


def test_without_spark_all_cores_work(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(2, timeout=60)

    def task(number: int) -> int:
        together.wait()
        return number

    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.setattr("workloads.spark.tasks.cores", lambda: 2)
    assert run_numbers(None, range(2), task, "waiting").tolist() == [0, 1]
