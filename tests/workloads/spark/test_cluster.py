"""A cluster that is elsewhere: a master and two workers on an address of their own give the same rings.

The master and the workers live in one network namespace and the driver in another, with a cable between
them: neither sees the other's loopback. Workers have homes of their own, an environment with the documented
packages, and no source tree of ours on their path.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import workloads
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.generate.rows import ring_ids
from workloads.spark import session
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
def daemon(namespace: str, role: str, home: Path, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
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
        "XDG_CACHE_HOME": str(home / "cache"),
        "HOME": str(home),
    }
    command += ["--host", CLUSTER, "--webui-port", "0", *arguments]
    with inside(namespace, command, env=environment, cwd=home, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
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


# What the documentation asks of workers, and nothing else of ours.
PACKAGES = ("numpy", "numba", "llvmlite", "pyarrow")


def worker_environment(folder: Path) -> Path:
    """The interpreter of a worker that has exactly the documented packages, and no code of ours."""
    import importlib.util

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        home = Path(spec.origin).parent
        for found in (home, *home.parent.glob(f"{name}.libs"), *home.parent.glob(f"{name}-*.dist-info")):
            (site / found.name).symlink_to(found)
    return folder / "bin" / "python"


def test_a_cluster_of_workers_with_the_documented_packages_survives_the_loss_of_one(tmp_path: Path) -> None:
    """A worker is killed while its tasks run; the rings are those of this process all the same."""
    pytest.importorskip("pyspark")
    try:
        java_home()
    except InputError as missing:
        pytest.skip(str(missing))
    master, python = f"spark://{CLUSTER}:{PORT}", worker_environment(tmp_path / "environment")
    with ExitStack() as cluster:
        at_driver, at_cluster = cluster.enter_context(cable())
        cluster.enter_context(daemon(at_cluster, "master.Master", tmp_path, "--port", PORT))
        wait_for_master(at_driver)
        workers = []
        for number in range(2):
            home = tmp_path / f"home-{number}"
            home.mkdir()
            worker = ("-c", 1, "-m", "1g", "-d", home / "work", master)
            workers.append(cluster.enter_context(daemon(at_cluster, "worker.Worker", home, *worker)))
        job = [sys.executable, "-m", "tests.workloads.spark.cluster_job", master, DRIVER, tmp_path]
        environment = os.environ | {"SPARK_LOCAL_IP": DRIVER, "PYTHONPATH": str(ROOT)}
        environment["PYSPARK_PYTHON"] = str(python)
        driver = cluster.enter_context(inside(at_driver, job, cwd=ROOT, env=environment))
        cluster.callback(driver.kill)
        while not (tmp_path / "tasks-run").exists():
            assert driver.poll() is None
            time.sleep(0.2)
        kill_with_children(workers[1])
        assert driver.wait(timeout=1800) == 0
    spec = workloads.named("uniform-3")
    lows, highs = spec.subscriptions(3000, 7)
    found = match(lows, highs, spec.candidates(7, 0, 500))
    ids = ring_ids(7, 0, 3000)
    rings = parquet.read_table(tmp_path / "rings.parquet").sort_by("event").to_pydict()
    expected = {event: found.of(event)[np.argsort(ids[found.of(event)])].tolist() for event in range(500)}
    assert dict(zip(rings["event"], rings["ring"], strict=True)) == {k: v for k, v in expected.items() if v}
    assert json.loads((tmp_path / "lost.json").read_text()) == {
        "executors before": 2,
        "tasks ran twice": True,
    }
    assert list((tmp_path / "home-0" / "cache").rglob("*.nbi"))


def kill_with_children(worker: subprocess.Popen[bytes]) -> None:
    """End a worker, its executor and the executor's Python at once, by their numbers."""
    ours, parents = {worker.pid}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        words = status.read_text().rpartition(")")[2].split()
        parents[int(status.parent.name)] = int(words[1])
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    for process in ours:
        os.kill(process, signal.SIGKILL)
