"""Sessions: work goes on without Spark, and a user's mistake found on a worker is told in one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import workloads
from sub2sub.errors import InputError
from workloads.generate.generate import generate
from workloads.match.rings import count_rings, ring_sizes
from workloads.spark.session import run_numbers, run_tasks, spark_session

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
        pytest.raises(InputError, match=r"pyspark is not installed: expected pip install 'sub2sub\[spark\]'"),
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
