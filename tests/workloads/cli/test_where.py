"""Where commands run: in this process, or on Spark when asked."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from workloads.cli.common import Where


@pytest.mark.parametrize(
    ("where", "on_spark"),
    [(Where(), False), (Where(spark=True), True), (Where(master="local[2]"), True)],
)
def test_spark_is_started_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, where: Where, on_spark: bool
) -> None:
    monkeypatch.setattr("workloads.spark.session.spark_session", lambda *given: nullcontext("a session"))
    with where.session() as session:
        assert (session is not None) == on_spark
