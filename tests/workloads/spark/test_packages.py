"""Our packages on another machine: unpacked once, with their experiments, and in a place for kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from workloads.files.digests import file_digest
from workloads.spark import packages

CODE = """
import workloads, sub2sub.compiled.machinery.compilation as compilation
from sims.config.shipped import find_file
print(workloads.__file__, find_file("sub2sub-fig5").exists(), compilation.__file__)
print(workloads.named("uniform-1").subscriptions(3, 1)[0].shape)
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


def test_packages_are_unpacked_once_and_bring_their_experiments(tmp_path: Path) -> None:
    archive, cache = packages.archive(tmp_path), tmp_path / "cache"
    folder = cache / "sub2sub" / f"packages-{packages.digest()}"
    expected = [str(folder / "workloads" / "__init__.py"), "True"]
    for _ in range(2):
        *where, kernels, rows, columns = start(archive, cache)
        assert where == expected
        assert kernels == str(folder / "sub2sub" / "compiled" / "machinery" / "compilation.py")
        assert (rows, columns) == ("(3,", "1)")
        os.utime(folder, (1, 1))
    assert folder.stat().st_mtime == 1  # not written again


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


def test_several_workers_may_unpack_at_the_same_time(tmp_path: Path) -> None:
    archive, cache = packages.archive(tmp_path), tmp_path / "cache"
    environment = os.environ | {"PYTHONPATH": str(archive), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-c", "import sub2sub; print(sub2sub.__file__)"]
    started = [subprocess.Popen(command, cwd=tmp_path, env=environment) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert [path.name for path in (cache / "sub2sub").glob("packages-*")] == [f"packages-{packages.digest()}"]


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
