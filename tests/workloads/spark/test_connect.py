"""The commands on a server of Spark Connect, whose workers have the documented packages only."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import workloads
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from tests.workloads.spark.test_cluster import ROOT, worker_environment
from workloads.generate.rows import ring_ids
from workloads.spark import session
from workloads.spark.java import java_home

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
CODE = """
from click.testing import CliRunner
from workloads.cli.group import cli
where = ("--remote", "sc://127.0.0.1:PORT", "--quiet")
for words in ("generate --spec uniform-3 --subscribers 2000 --events 50 --seed 7 --out w", "match w --rings"):
    result = CliRunner().invoke(cli, [*words.split(), *where], catch_exceptions=False)
    print(result.output)
"""


def test_commands_on_a_connect_server_write_the_same_rings(tmp_path: Path) -> None:
    import pyspark

    pytest.importorskip("grpc")
    try:
        home = java_home()
    except InputError as missing:
        pytest.skip(str(missing))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYSPARK_PYTHON": str(worker_environment(tmp_path / "environment")),
        "SPARK_CONF_DIR": str(Path(session.__file__).parent / "conf"),
    }  # fmt: skip
    conf = {
        "spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 2,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }  # fmt: skip
    settings = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[2]", "--class", name]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            [*submit, *settings, "spark-internal"], env=environment, cwd=tmp_path, stdout=log, stderr=log
        )
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert server.poll() is None, (tmp_path / "server.log").read_text()
            time.sleep(0.3)
        client = [sys.executable, "-c", CODE.replace("PORT", str(port))]
        shown = subprocess.run(
            client, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )
        assert "50 events, rings of" in shown.stdout, shown.stdout + shown.stderr
    finally:
        server.terminate()
        server.wait()
    spec = workloads.named("uniform-3")
    lows, highs = spec.subscriptions(2000, 7)
    found = match(lows, highs, spec.events(50, 7, lows, highs))
    ids = ring_ids(7, 0, 2000)
    rings = parquet.read_table(tmp_path / "w" / "rings").sort_by("event")
    expected = [found.of(event)[np.argsort(ids[found.of(event)])].tolist() for event in range(50)]
    assert rings["ring"].to_pylist() == expected
    assert list((tmp_path / "cache").rglob("*.nbi"))  # kernels that the next worker finds compiled
