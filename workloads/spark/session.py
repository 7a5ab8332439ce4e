"""Starts and stops Spark.

Local mode by default; on a cluster only the master's address changes. Settings of the caller come first, then
those of the installation, then ours. Workers use the interpreter of this process unless PYSPARK_PYTHON is
set. Our packages are sent to them, but NumPy, numba and pyarrow have to be installed there.
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
from workloads.spark import packages
from workloads.spark.java import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SENT: dict[str, str] = {}  # digest of the packages that each application has got
_LOOPBACK = ("local", "spark://127.0.0.1:", "spark://localhost:")
# Little code runs in the JVM itself, so a quick start is worth more than optimised code.
_QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ATTEMPTS = 4  # attempts at a task, as on a cluster; the default of local mode is one


def _defaults(master: str) -> dict[str, str]:
    """Our settings, used unless the caller or the installation sets them."""
    settings = {
        "spark.app.name": "sub2sub",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if _is_here(master):
        path = os.pathsep.join([str(packages.ROOT), os.environ.get("PYTHONPATH", "")])
        settings |= {
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": _QUICK_JVM,
            "spark.executor.extraJavaOptions": _QUICK_JVM,
            # On the same machine, workers import the same files as this process, with compiled kernels.
            "spark.executorEnv.PYTHONPATH": path,
        }
    return settings


def _is_here(master: str) -> bool:
    return master.startswith(_LOOPBACK)


def with_attempts(master: str) -> str:
    """A local master that repeats failed tasks; other masters unchanged.

    Examples
    --------
    >>> with_attempts("local[*]"), with_attempts("local[2,1]"), with_attempts("spark://host:7077")
    ('local[*,4]', 'local[2,1]', 'spark://host:7077')
    """
    master = "local[1]" if master == "local" else master
    return re.sub(r"^local\[([^,\]]+)\]$", rf"local[\1,{_ATTEMPTS}]", master)


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
    ui: bool = False,
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
    ui : bool
        Serve Spark's pages while the block runs; their address is printed to standard error.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("pyspark is not installed: expected pip install 'sub2sub-overlays[spark]'") from None
    if (active := SparkSession.getActiveSession()) is not None:
        with tempfile.TemporaryDirectory(prefix="sub2sub-spark-") as folder:
            _send_packages(active, Path(folder))
        yield active
        return
    _set_environment()
    given = _already_set() | dict(conf or {})
    if memory is not None:
        given |= {"spark.driver.memory": memory, "spark.executor.memory": memory}
    if ui:
        given["spark.ui.enabled"] = "true"
    master = with_attempts(master or given.get("spark.master", "local[*]"))
    if _is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with tempfile.TemporaryDirectory(prefix="sub2sub-spark-") as folder:
        settings = _defaults(master) | {"spark.sql.warehouse.dir": folder} | given | {"spark.master": master}
        builder = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        try:
            spark = builder.getOrCreate()
        except Exception as failure:
            raise InputError(
                f"spark: cannot start a session on {master}: {_first_line(failure)}"
            ) from failure
        try:
            spark.sparkContext.setLogLevel("ERROR")
            _send_packages(spark, Path(folder))
            if ui:
                print(f"spark: {spark.sparkContext.uiWebUrl}", file=sys.stderr)
            yield spark
        finally:
            spark.stop()


def _set_environment() -> None:
    """Set the environment variables that Spark's scripts need, unless they are set."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not Path(os.environ.get("SPARK_HOME", ""), "conf").is_dir():
        os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent / "conf"))


def _send_packages(spark: SparkSession, folder: Path) -> None:
    """Send our packages to workers on other machines, once per session."""
    context = spark.sparkContext
    if _is_here(str(context.master)) or packages.digest() in _SENT.get(context.applicationId, ""):
        return
    context.addPyFile(str(packages.archive(folder)))
    _SENT[context.applicationId] = packages.digest()


def _first_line(failure: Exception) -> str:
    return next(iter(str(failure).splitlines()), type(failure).__name__)
