"""Compiling is announced once, and nothing is said where nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging, sys
from sub2sub.compiled.machinery.compilation import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def triple(x):
    return 3 * x

if len(sys.argv) > 1:
    logging.getLogger("sub2sub").setLevel(logging.ERROR)
print(double(3) + triple(5))
"""


def said(folder: Path, *arguments: str) -> str:
    file = folder / "program.py"
    file.write_text(PROGRAM)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "SUB2SUB_PLAIN": "0"}
    done = subprocess.run(
        [sys.executable, str(file), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "21\n"
    return done.stderr


def test_the_first_kernel_is_announced_and_a_warm_run_says_nothing(tmp_path: Path) -> None:
    assert said(tmp_path).count("compiling kernels") == 1
    assert said(tmp_path) == ""


def test_a_program_can_silence_it(tmp_path: Path) -> None:
    assert said(tmp_path, "quietly") == ""


@pytest.fixture(autouse=True)
def _with_the_machinery() -> None:
    if os.environ.get("SUB2SUB_PLAIN", "0") not in ("", "0"):
        pytest.skip("numba as it is announces nothing")
