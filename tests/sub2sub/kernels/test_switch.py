"""Without the compiler's machinery, or without a part of it, kernels compute the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sub2sub.compiled.machinery.cache import base, digest_of
from sub2sub.compiled.machinery.switch import PARTS

ROOT = Path(__file__).parents[3]
# numba's own cache does not look at what a kernel calls in other files.
KEPT = base() / f"kernels-{digest_of(ROOT / 'sub2sub/compiled/cyclon/layer.py')[:16]}-plain"

SMALL = """
from typing import NamedTuple
import sys
import numpy as np
from sub2sub.compiled.machinery.compilation import hot, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.machinery.simd import least, load

@by_reference
class Pair(NamedTuple):
    row: np.ndarray
    share: float

@rule
def at(pair, k):
    return max(pair.row[k], 2) * pair.share

@hot
def total(pair):
    return at(pair, 1) + at(pair, 5) + least(load(pair.row, 3))

print(total(Pair(np.arange(32), 0.5)), "sub2sub.compiled.machinery.compilers" in sys.modules)
"""


def run(code: list[str], **switches: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **switches}
    return subprocess.run([sys.executable, *code], cwd=ROOT, env=env, capture_output=True, text=True)


@pytest.mark.parametrize("part", [*PARTS, ",".join(PARTS), ""])
def test_kernels_compute_the_same_without_a_part(part: str) -> None:
    done = run(["-c", SMALL], SUB2SUB_WITHOUT=part)
    assert done.stdout == "6.5 True\n", done.stderr


def test_numba_as_it_is_loads_no_compiler_of_ours() -> None:
    done = run(["-c", SMALL], SUB2SUB_PLAIN="1")
    assert done.stdout == "6.5 False\n", done.stderr


def test_a_part_that_there_is_not_is_refused() -> None:
    done = run(["-c", SMALL], SUB2SUB_WITHOUT="callees,colours")
    assert done.stderr.splitlines()[-1].endswith("passes, compile_time, got 'colours'")


def test_kernels_compiled_by_numba_as_it_is_step_as_the_readable_peers() -> None:
    oracle = "tests/sub2sub/cyclon/test_cyclon.py"
    done = run(
        ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", oracle],
        SUB2SUB_PLAIN="1",
        NUMBA_CACHE_DIR=str(KEPT),
    )
    assert done.returncode == 0, done.stdout
