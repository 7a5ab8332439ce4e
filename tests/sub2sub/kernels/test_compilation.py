"""The cache of compiled kernels is small, shared by checkouts of the same text, and never stale."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from sub2sub.compiled.machinery import cache, compilers
from sub2sub.compiled.machinery.cache import HERE, KEEP_DAYS, prune, sources_of

FILES = {
    "__init__.py": '"""A package."""\n',
    "kernels.py": "from . import plain\nfrom package.room import (\n    more,\n)\nimport package.far\n",
    "plain.py": "WIDTH = 8\n",
    "far.py": "from package.beyond import COUNT\n",
    "beyond.py": "COUNT = 3\n",
    "room/__init__.py": "",
    "room/more.py": "import sub2sub.compiled.common.randomness\n",
    "other.py": "import package.kernels\n",
}
TRIPLE = """
from sub2sub.compiled.machinery.compilation import kernel
from package.factor import FACTOR

@kernel
def times(x):
    return FACTOR * x
"""
RUN = "from package.double import times; print(times(7), len(times.stats.cache_hits))"


def package_in(folder: Path) -> Path:
    package = folder / "package"
    for name, text in FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return package


def digest_of(path: Path) -> str:
    """What a new process would find."""
    for each in (cache._imported, cache._files, cache.sources_of, cache.digest_of, cache._content):
        each.cache_clear()
    return cache.digest_of(path)


def test_only_kernels_that_nobody_has_run_for_long_are_forgotten(tmp_path: Path) -> None:
    for name, days in (("kernels-old", KEEP_DAYS + 1), ("kernels-new", KEEP_DAYS - 1), ("other", 999)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").write_bytes(b"x")
        then = time.time() - 86_400 * days
        os.utime(tmp_path / name, (then, then))
    prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-new", "other"]


@pytest.mark.parametrize("edited", ["kernels.py", "plain.py", "far.py", "beyond.py", "room/more.py"])
def test_an_edit_to_what_a_kernel_comes_from_compiles_it_anew(tmp_path: Path, edited: str) -> None:
    package = package_in(tmp_path)
    before = digest_of(package / "kernels.py")
    assert digest_of(package / "kernels.py") == before
    (package / edited).write_text((package / edited).read_text() + "\nCHANGED = 1\n")
    assert digest_of(package / "kernels.py") != before


def test_an_edit_elsewhere_keeps_it(tmp_path: Path) -> None:
    package = package_in(tmp_path)
    before = digest_of(package / "kernels.py")
    (package / "other.py").write_text("CHANGED = 1\n")
    assert digest_of(package / "kernels.py") == before


def test_another_checkout_of_the_same_text_has_the_same_digest(tmp_path: Path) -> None:
    here, there = package_in(tmp_path / "here"), package_in(tmp_path / "there")
    assert digest_of(here / "kernels.py") == digest_of(there / "kernels.py")


def test_what_is_imported_from_the_library_is_followed(tmp_path: Path) -> None:
    found = sources_of(package_in(tmp_path) / "kernels.py")
    assert HERE / "sub2sub" / "compiled" / "common" / "randomness.py" in found
    assert HERE / "sub2sub" / "compiled" / "machinery" / "compilation.py" in found


def test_the_sources_of_a_kernel_are_the_modules_it_really_loads() -> None:
    """The closure found in the text contains every module of the project that importing the file loads."""
    module = "sub2sub.compiled.ring.layer"
    code = (
        f"import sys, types; sys.modules['sub2sub'] = p = types.ModuleType('sub2sub'); "
        f"p.__path__ = [{str(HERE / 'sub2sub')!r}]; import {module}; "
        "print(*[m.__file__ for n, m in sys.modules.items() if n.startswith('sub2sub.')])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = {Path(path) for path in loaded.split() if not path.endswith("__init__.py")}
    assert rooms <= sources_of(HERE / "sub2sub" / "compiled" / "ring" / "layer.py")


def run_double(folder: Path, kept: Path) -> str:
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), str(HERE)]),
        "NUMBA_CACHE_DIR": str(kept),
    }
    return subprocess.run(
        [sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=True
    ).stdout


def test_kernels_are_compiled_once_for_all_checkouts_and_again_after_an_edit(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for place in ("here", "there"):
        package = package_in(tmp_path / place)
        (package / "double.py").write_text(TRIPLE)
        (package / "factor.py").write_text("FACTOR = 3\n")
    assert run_double(tmp_path / "here", kept).split() == ["21", "0"]
    assert run_double(tmp_path / "there", kept).split() == ["21", "1"]
    (tmp_path / "there" / "package" / "factor.py").write_text("FACTOR = 4\n")
    assert run_double(tmp_path / "there", kept).split() == ["28", "0"]


def test_kernels_run_where_nothing_can_be_kept(tmp_path: Path) -> None:
    package = package_in(tmp_path)
    (package / "double.py").write_text(TRIPLE)
    (package / "factor.py").write_text("FACTOR = 3\n")
    (tmp_path / "file").write_text("not a folder")
    assert run_double(tmp_path, tmp_path / "file").split() == ["21", "0"]


def test_what_was_compiled_for_types_of_a_package_that_is_gone_is_compiled_anew(tmp_path: Path) -> None:
    kept, package = tmp_path / "kept", package_in(tmp_path)
    (package / "double.py").write_text(TRIPLE.replace("FACTOR * x", "FACTOR * x[0]"))
    (package / "factor.py").write_text("FACTOR = 3\n")
    gone = package_in(tmp_path / "gone").parent / "pair.py"
    gone.write_text("from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    a: int\n    b: int\n")
    call = "from package.double import times; {}; print(times({}))"
    for code, folders in (
        (("from pair import Pair", "Pair(7, 1)"), [tmp_path, gone.parent]),
        (("", "(7, 1)"), [tmp_path]),
    ):
        env = {**os.environ, "NUMBA_CACHE_DIR": str(kept)}
        env["PYTHONPATH"] = os.pathsep.join(str(each) for each in (*folders, HERE))
        words = [sys.executable, "-c", call.format(*code).replace("; ;", ";")]
        assert subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout == "21\n"


def test_kernels_of_a_file_are_kept_in_one_folder() -> None:
    path = HERE / "sub2sub" / "compiled" / "common" / "randomness.py"
    assert cache.folder_of(path).name == f"kernels-{cache.digest_of(path)[:20]}"


def test_packaging_asks_for_the_versions_of_numba_that_kernels_are_made_for() -> None:
    asked = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["dependencies"]
    (major, first), (_, last) = compilers.FIRST_NUMBA, compilers.LAST_NUMBA
    assert f"numba>={major}.{first},<{major}.{last + 1}" in asked


def test_another_numba_is_refused_in_one_line_before_anything_is_compiled() -> None:
    code = "import numba; numba.__version__ = '0.99.1'; import sub2sub.compiled.common.randomness"
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == "ImportError: numba: expected a version from 0.62 to 0.68, got 0.99.1"
