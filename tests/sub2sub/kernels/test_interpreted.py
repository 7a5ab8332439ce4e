"""Kernels mean what they say: without compilation they compute the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.sub2sub.kernels.tour import digests

ROOT = Path(__file__).parents[3]


def test_interpreted_kernels_compute_what_compiled_ones_do() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-m", "tests.sub2sub.kernels.tour", "--short"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    interpreted = dict(line.split(": ") for line in run.stdout.splitlines())
    assert interpreted == digests(short=True), run.stderr
