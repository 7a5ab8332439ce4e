"""A real cluster, a master and two workers on loopback, gives what this process gives."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from pyarrow import parquet

from sub2sub.errors import InputError
from tests.workloads.generate.test_generate import digests
from tests.workloads.spark.cluster_job import job
from workloads.spark import session
from workloads.spark.java import java_home

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def daemon(role: str, *arguments: object) -> Iterator[None]:
    """A Spark master or worker in a process of its own, stopped by its process ID.

    Started without Spark's script, which would start another Java only to print this command.
    """
    import pyspark

    conf, jars = Path(session.__file__).parent / "conf", Path(pyspark.__file__).parent / "jars" / "*"
    java = [java_home() / "bin" / "java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    command = [*java, "-cp", f"{conf}{os.pathsep}{jars}", f"org.apache.spark.deploy.{role}"]
    environment = os.environ | {
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(conf),
        "SPARK_SCALA_VERSION": "2.13",
        "PYSPARK_PYTHON": sys.executable,
    }
    with subprocess.Popen(
        [*map(str, command), "--host", "127.0.0.1", "--webui-port", "0", *map(str, arguments)],
        env=environment,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail("the master did not start within two minutes")


def test_a_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    try:
        java_home()
    except InputError as missing:
        pytest.skip(str(missing))
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as cluster:
        cluster.enter_context(daemon("master.Master", "--port", port))
        command = [
            sys.executable,
            "-m",
            "tests.workloads.spark.cluster_job",
            master,
            str(tmp_path / "there" / "out"),
        ]
        # It has imports and a Java of its own to start while the others do.
        driver = cluster.enter_context(subprocess.Popen(command, cwd=ROOT))
        cluster.callback(driver.kill)
        wait_for(port)
        for number in range(2):
            worker = ("-c", 1, "-m", "1g", "-d", tmp_path / f"worker-{number}", master)
            cluster.enter_context(daemon("worker.Worker", *worker))
        assert driver.wait(timeout=300) == 0
    job(None, tmp_path / "here" / "out")
    here, there = tmp_path / "here" / "out", tmp_path / "there" / "out"
    assert digests(there / "w") == digests(here / "w")
    columns = ["a", "b", "seed", "product", "error"]
    tables = [parquet.read_table(out / "sweep" / "results.parquet") for out in (here, there)]
    rows = [sorted(table.select(columns).to_pylist(), key=str) for table in tables]
    assert rows[0] == rows[1]
