"""The cache of compiled kernels is kept, kept small, and never stale."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sub2sub.kernels.compilation import KEEP_DAYS, _cache_folder, _digest, _prune

KERNEL = "from sub2sub.kernels.compilation import kernel\n\n@kernel\ndef double(x):\n    return 2 * x\n"


def test_only_kernels_that_nobody_has_run_for_long_are_forgotten(tmp_path: Path) -> None:
    for name, days in (("kernels-old", KEEP_DAYS + 1), ("kernels-new", KEEP_DAYS - 1), ("other", 999)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").write_bytes(b"x")
        then = time.time() - 86_400 * days
        os.utime(tmp_path / name, (then, then))
    _prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-new", "other"]


def folder_of(package: Path) -> str:
    """The cache folder that a new process would choose for the kernels of a package."""
    _digest.cache_clear()
    _cache_folder.cache_clear()
    return _cache_folder(package)


@pytest.mark.parametrize(
    "edited", ["__init__.py", "kernels.py", "plain.py", "room/__init__.py", "room/more.py"]
)
def test_an_edit_to_any_file_of_a_package_compiles_its_kernels_anew(tmp_path: Path, edited: str) -> None:
    package = tmp_path / "package"
    (package / "room").mkdir(parents=True)
    for name in ("__init__.py", "room/__init__.py"):
        (package / name).write_text('"""A room."""\n')
    (package / "kernels.py").write_text(KERNEL)
    for name in ("plain.py", "room/more.py"):  # no compiled function: emitted instructions, constants
        (package / name).write_text("WIDTH = 8\n")
    before = folder_of(package)
    assert folder_of(package) == before
    (package / edited).write_text((package / edited).read_text() + "\nCHANGED = 1\n")
    assert folder_of(package) != before
    (package / edited).rename(package / "renamed.py")
    assert folder_of(package) != before


def test_an_edit_to_the_library_compiles_the_kernels_of_other_packages_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, library = tmp_path / "package", tmp_path / "library"
    for folder in (package, library / "kernels"):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text(KERNEL)
    (library / "simd.py").write_text("WIDTH = 8\n")
    monkeypatch.setattr("sub2sub.kernels.compilation.__file__", str(library / "kernels" / "compilation.py"))
    before = folder_of(package)
    (library / "simd.py").write_text("WIDTH = 16\n")
    assert folder_of(package) != before
    monkeypatch.undo()
    folder_of(package)
