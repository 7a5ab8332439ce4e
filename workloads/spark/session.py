"""Starts and stops Spark.

Local mode by default; on a cluster only the master's address changes, and with Spark Connect that of the
server. Settings of the caller come first, then those of the installation, then ours. Workers on this
machine use the interpreter of this process unless PYSPARK_PYTHON is set; others say what they have
(`workloads.spark.workers`).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sub2sub.errors import InputError
from workloads.spark import packages, workers
from workloads.spark.java import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOPBACK = ("local", "spark://127.0.0.1:", "spark://localhost:")


def _defaults(master: str) -> dict[str, str]:
    """Our settings, used unless the caller or the installation sets them."""
    settings = {
        "spark.app.name": "sub2sub",
        "spark.driver.memory": "2g",
        "spark.executor.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Rings are rows of up to megabytes: a batch of the reader has few, one for Python so many bytes.
        "spark.sql.parquet.columnarReaderBatchSize": "64",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**26),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if _is_here(master):
        path = os.pathsep.join([str(packages.ROOT), os.environ.get("PYTHONPATH", "")])
        settings |= {
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # On the same machine, workers import the same files as this process, with compiled kernels.
            "spark.executorEnv.PYTHONPATH": path,
            "spark.python.daemon.module": "workloads.spark.daemon",
        }
    return settings


def _is_here(master: str) -> bool:
    return master.startswith(_LOOPBACK)


def _already_set() -> dict[str, str]:
    """The settings of spark-submit or of the installation's spark-defaults.conf."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # started by spark-submit
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        return dict(SparkConf(_jvm=SparkContext._jvm).getAll())
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    file = Path(folder) / "spark-defaults.conf"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    pairs = [re.split(r"[=:\s]+", line.strip(), maxsplit=1) for line in lines if line.strip()[:1] not in "#"]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


@contextmanager
def spark_session(
    master: str | None = None,
    memory: str | None = None,
    conf: Mapping[str, str] | None = None,
    remote: str | None = None,
) -> Iterator[SparkSession]:
    """A Spark session for a `with` block; an active session is used again.

    Parameters
    ----------
    master : str, optional
        `spark://HOST:PORT` for a cluster; all cores of this machine unless other settings name one.
    memory : str, optional
        Memory of the driver, and of each executor.
    conf : mapping, optional
        Any settings of Spark. They override those of spark-submit and of spark-defaults.conf.
    remote : str, optional
        Address of a server of Spark Connect, `sc://HOST:PORT`, instead of a master.
    """
    if remote is not None and (master or memory):
        raise InputError("--remote: expected neither --master nor --memory with it")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("pyspark is not installed: expected pip install 'sub2sub-overlays[spark]'") from None
    if (active := SparkSession.getActiveSession()) is not None:
        yield active
        return
    with tempfile.TemporaryDirectory(prefix="sub2sub-spark-") as folder:
        if remote is not None:
            place, builder = remote, SparkSession.builder.remote(remote)
            settings = {"spark.sql.session.timeZone": "UTC", **(conf or {})}
        else:
            builder, settings = SparkSession.builder, _settings(master, memory, conf or {})
            place = settings["spark.master"]
            settings.setdefault("spark.sql.warehouse.dir", folder)
        for key, value in settings.items():
            builder = builder.config(key, value)
        try:
            spark = builder.getOrCreate()
            _ = spark.version  # asks the server
        except Exception as failure:  # also where grpc is not installed
            reason = next(iter(str(failure).splitlines()), type(failure).__name__)
            raise InputError(f"spark: cannot start a session on {place}: {reason}") from failure
        try:
            if remote is None:
                spark.sparkContext.setLogLevel("ERROR")
            if not _is_here(place):
                workers.prepare(spark, Path(folder))
            yield spark
        finally:
            spark.stop()


def _settings(master: str | None, memory: str | None, conf: Mapping[str, str]) -> dict[str, str]:
    """All settings of a session on a master; sets the environment that Spark's scripts need."""
    _set_environment()
    given = _already_set() | dict(conf)
    if memory is not None:
        given |= {"spark.driver.memory": memory, "spark.executor.memory": memory}
    master = master or given.get("spark.master", "local[*,4]")  # four attempts at a task, as on a cluster
    if _is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return _defaults(master) | given | {"spark.master": master}


def _set_environment() -> None:
    """Set the environment variables that Spark's scripts need, unless they are set."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    os.environ["JAVA_HOME"] = str(java_home())
    if not Path(os.environ.get("SPARK_HOME", ""), "conf").is_dir():
        os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent / "conf"))
