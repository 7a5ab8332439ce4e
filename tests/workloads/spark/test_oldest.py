"""The oldest version of Spark that pyproject.toml allows gives the same rings and statistics."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import workloads
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.generate.rows import ring_ids
from workloads.spark.java import java_home

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]
CODE = """
import pyspark
from click.testing import CliRunner
from tests.workloads.conftest import CONF
from workloads.cli.group import cli
from workloads.spark.session import spark_session

print(pyspark.__version__)
commands = (
    "generate --spec uniform-3 --subscribers 2000 --events 50 --seed 7 --out w", "match w --rings",
    "stats w --peers 3", "import orders.csv --column price=low,high --set-aside --out own",
)
with spark_session("local[2]", conf=CONF):
    for command in commands:
        CliRunner().invoke(cli, command.split(), catch_exceptions=False)
"""


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The version, and the folder that it is installed in."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = next(each for each in project["optional-dependencies"]["spark"] if each.startswith("pyspark"))
    bound = re.search(r">=([\d.]+)", needed)
    assert bound, needed
    folder = tmp_path_factory.mktemp("oldest")
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", folder, f"pyspark=={bound[1]}"]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    return bound[1], folder


def test_the_oldest_spark_gives_the_same_rings(oldest: tuple[str, Path], tmp_path: Path) -> None:
    try:
        java_home()
    except InputError as missing:
        pytest.skip(str(missing))
    (tmp_path / "orders.csv").write_text("low,high\n1,2\n5,4\n2,3\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(oldest[1]), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == oldest[0]
    spec = workloads.named("uniform-3")
    lows, highs = spec.subscriptions(2000, 7)
    found, ids = match(lows, highs, spec.events(50, 7, lows, highs)), ring_ids(7, 0, 2000)
    rings = parquet.read_table(tmp_path / "w" / "rings").sort_by("event")["ring"].to_pylist()
    assert rings == [found.of(event)[np.argsort(ids[found.of(event)])].tolist() for event in range(50)]
    assert parquet.read_table(tmp_path / "w" / "loads")["rings"].to_numpy().sum() == sum(map(len, rings))
    summary = parquet.read_table(tmp_path / "w" / "statistics" / "summary.parquet").to_pylist()
    assert summary[0]["mean"] == pytest.approx(np.mean([len(ring) for ring in rings]))
    assert parquet.read_table(tmp_path / "own" / "subscriptions").num_rows == 2
    assert parquet.read_table(tmp_path / "own" / "rejected").num_rows == 1
