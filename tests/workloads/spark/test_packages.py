"""Our packages on another machine: imported from an archive, with kernels kept for the next job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from workloads.files.checked import file_digest
from workloads.spark import packages

CODE = """
import workloads
from workloads import frames
print(workloads.__file__, *workloads.named("uniform-1").subscriptions(3, 1)[0].shape)
"""


def start(archive: Path, cache: Path, code: str = CODE) -> list[str]:
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=archive.parent,
        env=os.environ | {"PYTHONPATH": str(archive), "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.split()


def test_frames_are_imported_from_the_archive_as_it_is(tmp_path: Path) -> None:
    archive = packages.archive(tmp_path)
    assert start(archive, tmp_path / "cache") == [str(archive / "workloads" / "__init__.py"), "3", "1"]


def test_kernels_that_one_job_compiled_are_there_for_the_next(tmp_path: Path) -> None:
    archive, cache = packages.archive(tmp_path), tmp_path / "cache"
    code = """
import numpy as np
from workloads.frames.overlaps import overlapping
box = np.zeros((1, 1))
overlapping(box, box, box[0], box[0])
print(sum(overlapping.stats.cache_hits.values()))
"""
    assert [start(archive, cache, code) for _ in range(2)] == [["0"], ["1"]]


def test_the_digest_is_of_what_the_files_say(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("one")
    before = file_digest(tmp_path / "a")
    assert file_digest(tmp_path / "b") == before
    (tmp_path / "b").write_text("two")
    assert file_digest(tmp_path / "b") != before


def test_what_python_and_numba_keep_beside_the_code_is_no_part_of_it() -> None:
    assert not [file for file in packages._files() if file.parent.name == "__pycache__"]
    assert packages.ROOT / "workloads" / "spark" / "packages.py" in list(packages._files())
