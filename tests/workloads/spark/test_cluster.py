"""A cluster that is elsewhere: a master and two workers on an address of their own give the same bytes.

The master and the workers live in one network namespace and the driver in another, with a cable between
them: neither sees the other's loopback. Workers have no source tree of ours on their path.
"""

from __future__ import annotations

import os
import shutil
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
from tests.workloads.spark.cluster_job import work
from workloads.spark import packages, session
from workloads.spark.java import java_home

ROOT = Path(__file__).parents[3]
DRIVER, CLUSTER, PORT = "10.213.77.1", "10.213.77.2", 7077
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def cable() -> Iterator[tuple[str, str]]:
    """Network namespaces for the driver and for the cluster, connected with each other and nothing else."""
    if shutil.which("ip") is None:
        pytest.skip("no `ip` command: network namespaces need iproute2")
    names = [f"sub2sub-{role}-{os.getpid()}" for role in ("driver", "cluster")]
    with ExitStack() as undo:
        try:
            for name in names:
                ip("netns", "add", name)
                undo.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True)
            ip(
                "-n",
                names[0],
                "link",
                "add",
                "s2s0",
                "type",
                "veth",
                "peer",
                "name",
                "s2s0",
                "netns",
                names[1],
            )
            for name, address in zip(names, (DRIVER, CLUSTER), strict=True):
                ip("-n", name, "addr", "add", f"{address}/30", "dev", "s2s0")
                for device in ("s2s0", "lo"):
                    ip("-n", name, "link", "set", device, "up")
        except subprocess.CalledProcessError as failure:
            reason = failure.stderr.decode().strip()
            pytest.skip(f"no network namespaces here (they need root and veth): {reason}")
        yield names[0], names[1]


def inside(namespace: str, command: list[object], **options: object) -> subprocess.Popen[bytes]:
    words = ["ip", "netns", "exec", namespace, *map(str, command)]
    return subprocess.Popen(words, **options)  # type: ignore[call-overload, no-any-return]


@contextmanager
def daemon(namespace: str, role: str, home: Path, *arguments: object) -> Iterator[None]:
    """A Spark master or worker in a process of its own, stopped by its process ID.

    Started without Spark's script, which would start another Java only to print this command.
    """
    import pyspark

    conf, jars = Path(session.__file__).parent / "conf", Path(pyspark.__file__).parent / "jars" / "*"
    java = [java_home() / "bin" / "java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    command = [*java, "-cp", f"{conf}{os.pathsep}{jars}", f"org.apache.spark.deploy.{role}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": CLUSTER,
        "SPARK_CONF_DIR": str(conf),
        "SPARK_SCALA_VERSION": "2.13",
        "PYSPARK_PYTHON": sys.executable,
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    command += ["--host", CLUSTER, "--webui-port", "0", *arguments]
    with inside(namespace, command, env=environment, cwd=home, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def wait_for_master(namespace: str) -> None:
    probe = f"import socket; socket.create_connection(({CLUSTER!r}, {PORT}), 2)"
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        with inside(namespace, [sys.executable, "-S", "-c", probe], stderr=subprocess.DEVNULL) as tried:
            if tried.wait() == 0:
                return
        time.sleep(0.3)
    pytest.fail("the master did not start within ten minutes")


def test_a_cluster_elsewhere_gives_the_same_bytes_and_both_workers_have_tasks(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    try:
        java_home()
    except InputError as missing:
        pytest.skip(str(missing))
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    master = f"spark://{CLUSTER}:{PORT}"
    with ExitStack() as cluster:
        at_driver, at_cluster = cluster.enter_context(cable())
        cluster.enter_context(daemon(at_cluster, "master.Master", tmp_path, "--port", PORT))
        wait_for_master(at_driver)
        for number in range(2):
            worker = ("-c", 1, "-m", "1g", "-d", tmp_path / f"worker-{number}", master)
            cluster.enter_context(daemon(at_cluster, "worker.Worker", tmp_path, *worker))
        job = [sys.executable, "-m", "tests.workloads.spark.cluster_job", master, DRIVER, there]
        environment = os.environ | {"SPARK_LOCAL_IP": DRIVER, "PYTHONPATH": str(ROOT)}
        driver = cluster.enter_context(inside(at_driver, job, cwd=ROOT, env=environment))
        cluster.callback(driver.kill)
        assert driver.wait(timeout=1800) == 0
    tasks = parquet.read_table(there / "tasks.parquet").to_pydict()
    workers = {Path(folder).relative_to(tmp_path).parts[0] for folder in tasks["folder"]}
    assert workers == {"worker-0", "worker-1"}
    unpacked = tmp_path / "cache" / "sub2sub" / f"packages-{packages.digest()}"
    assert set(tasks["packages"]) == {str(unpacked / "workloads" / "__init__.py")}
    assert tasks["experiment"] == [True] * 6
    assert list((tmp_path / "cache").rglob("*.nbi"))  # kernels that the next job finds compiled
    work(None, here)
    assert digests(there / "w") == digests(here / "w")
