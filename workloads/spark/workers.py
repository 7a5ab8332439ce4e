"""What workers elsewhere have: a first tiny task asks them, and sends them our code if they lack it.

The function that asks is sent by value and needs the standard library only.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from sub2sub.errors import InputError
from workloads.spark import packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("numpy", "numba", "pyarrow")
_TASKS = 32  # enough for one on each worker of a small cluster


def _look(_: int) -> str:
    """What a worker has, as JSON: host, the versions of packages, the digest of our code."""
    import importlib
    import importlib.metadata
    import json
    import os
    import socket

    versions = {}
    for name in ("numpy", "numba", "pyarrow"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    try:
        own = importlib.import_module("workloads.spark.packages").digest() if all(versions.values()) else ""
    except ImportError:
        own = ""
    return json.dumps({"host": socket.gethostname(), "at": os.getcwd(), "versions": versions, "own": own})


def prepare(spark: SparkSession, folder: Path) -> None:
    """Refuse workers that lack a package, in one line; send our code to those that have not this version.

    The folder has to stay while the session lasts: workers that join later get the code from there.
    """
    seen = _ask(spark)
    lacking = {
        f"{worker['host']} has no {', '.join(name for name in NEEDED if not worker['versions'][name])}"
        for worker in seen
        if not all(worker["versions"].values())
    }
    if lacking:
        raise InputError(
            f"workers: {'; '.join(sorted(lacking))}: expected {', '.join(NEEDED)} on every worker"
        )
    if {worker["own"] for worker in seen} != {packages.digest()}:
        spark.addArtifacts(str(packages.archive(folder)), pyfile=True)


def _ask(spark: SparkSession) -> list[dict[str, Any]]:
    from pyspark.sql import functions as f

    # cloudpickle sends functions of a program by value, those of a module by name.
    look = FunctionType(_look.__code__, {"__builtins__": __builtins__, "__name__": "__main__"}, "look")
    ask = f.udf(look, "string", useArrow=False)
    try:
        rows = spark.range(0, _TASKS, 1, _TASKS).select(ask("id").alias("found")).distinct().collect()
    except Exception as failure:
        lines = [line for line in str(failure).splitlines() if "VERSION_MISMATCH" in line or "Error:" in line]
        raise InputError(f"workers: {(lines or str(failure).splitlines())[0].strip()}") from failure
    return [json.loads(row["found"]) for row in rows]
