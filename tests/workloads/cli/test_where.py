"""Where commands run: in this process, or on Spark when asked or when the data are large."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from sub2sub.errors import InputError
from workloads.cli import common
from workloads.cli.common import Where


@pytest.mark.parametrize(
    ("where", "size", "on_spark"),
    [
        (Where(), 0, False),
        (Where(), 250, False),
        (Where(), 251, True),
        (Where(spark=False), 251, False),
        (Where(spark=True), 0, True),
        (Where(master="local[2]"), 0, True),
    ],
)
def test_spark_is_started_when_asked_for_or_when_the_data_are_large(
    monkeypatch: pytest.MonkeyPatch, where: Where, size: int, on_spark: bool
) -> None:
    monkeypatch.setattr(common, "memory", lambda: 1_000)
    monkeypatch.setattr("workloads.spark.session.spark_session", lambda *given: nullcontext("a session"))
    with where.session(size) as session:
        assert (session is not None) == on_spark


def test_no_spark_and_a_master_contradict_each_other() -> None:
    with pytest.raises(InputError, match="--no-spark"), Where(spark=False, master="local[2]").session():
        pass
