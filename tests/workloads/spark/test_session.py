"""Sessions: work runs without Spark, and a user's mistake found on a worker is an error of one line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sub2sub.errors import InputError
from workloads.cli.common import Where
from workloads.spark import session as session_module
from workloads.spark.session import spark_session
from workloads.spark.tasks import run_tasks, watched

CONF = Path(session_module.__file__).parent / "conf"


def squared(number: int) -> str:
    if number == 13:
        raise InputError("number = 13: expected another one")
    return str(number**2)


def test_without_pyspark_only_a_session_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with (
        pytest.raises(InputError, match=r"expected pip install 'sub2sub-overlays\[spark\]'"),
        spark_session(),
    ):
        pass


def test_tasks_return_what_the_function_does(spark: Any) -> None:
    assert run_tasks(spark, 7, squared) == {number: str(number**2) for number in range(7)}


def test_progress_tells_tasks_that_are_done_of_all(spark: Any) -> None:
    seen: list[tuple[str, int, int]] = []

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import time

        time.sleep(1)  # longer than the time between two looks
        yield from batches

    with watched(spark, "waiting", lambda *report: seen.append(report)):
        assert spark.range(0, 4, 1, 4).mapInArrow(wait, "id long").count() == 4
    assert {what for what, _, _ in seen} == {"waiting"}
    assert any(total == 4 and done < 4 for _, done, total in seen)


def test_a_mistake_found_on_a_worker_is_told_in_one_line(spark: Any) -> None:
    with (
        pytest.raises(InputError, match=r"^number = 13: expected another one$"),
        Where().started("squares", quiet=True),
    ):
        run_tasks(spark, 14, squared)


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
with spark_session("local[1,4]", conf={"spark.sql.shuffle.partitions": "7"}, memory="700m") as spark:
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
