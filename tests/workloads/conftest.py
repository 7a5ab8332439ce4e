"""One Spark session for all tests that need one; they are skipped where there is no usable Java."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sub2sub.errors import InputError

# A quick start is worth more to tests than optimised code.
CONF = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    pytest.importorskip("pyspark")
    from workloads.spark.java import java_home
    from workloads.spark.session import spark_session

    try:
        java_home()
    except InputError as missing:
        pytest.skip(str(missing))
    with spark_session("local[2]", conf=CONF) as session:
        yield session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use the session run in one worker, so that it is started once."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
