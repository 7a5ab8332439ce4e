"""Our packages as files: their digest, and the archive that is sent to other machines.

A digest of all source files and shipped experiments identifies the code that made a result. In the archive, a
stub with the name of each package unpacks the archive into the cache folder, once per machine, and imports
the real package from there. Modules imported from inside a zip archive would not find experiments and other
data beside the code, and could not keep compiled kernels for the next job.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from workloads.files.digests import file_digest

ROOT = Path(__file__).parents[2]
_PACKAGES = ("sub2sub", "hierarchy", "workloads", "sims")

_STUB = """import importlib, sys, sub2sub_packages
sub2sub_packages.unpack()
del sys.modules[__name__]
importlib.import_module(__name__)
"""

_UNPACK = '''"""Unpacks the packages that came with it, once per machine, and puts them on the path."""
import os, shutil, sys, tempfile, zipfile

def unpack():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    try:
        folder = _unpacked(os.path.join(base, "sub2sub"))
    except OSError:
        folder = _unpacked(os.path.join(tempfile.gettempdir(), f"sub2sub-{{os.getuid()}}"))
    if folder not in sys.path:
        sys.path.insert(0, folder)

def _unpacked(base):
    folder = os.path.join(base, "packages-{digest}")
    if not os.path.isdir(folder):
        os.makedirs(base, exist_ok=True)
        draft = tempfile.mkdtemp(prefix="packages-", dir=base)
        with zipfile.ZipFile(os.path.dirname(os.path.abspath(__file__))) as archive:
            archive.extractall(draft, [name for name in archive.namelist() if name.startswith("tree/")])
        try:
            os.rename(os.path.join(draft, "tree"), folder)
        except OSError:
            if not os.path.isdir(folder):  # otherwise another worker was first
                raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder
'''


def _files() -> Iterator[Path]:
    """Yield the files of our packages that workers need, without what Python and numba keep beside them."""
    for package in _PACKAGES:
        for file in sorted((ROOT / package).rglob("*")):
            if file.is_file() and file.parent.name != "__pycache__":  # there Python and numba keep theirs
                yield file


@cache
def digest() -> str:
    """Digest of the files of our packages, the same on every machine with the same code.

    Examples
    --------
    >>> len(digest())
    16
    """
    return file_digest(*_files(), root=ROOT)


def has(file: Path) -> bool:
    """Whether a file is part of our packages."""
    return any(file.resolve().is_relative_to(ROOT / package) for package in _PACKAGES)


def archive(folder: Path) -> Path:
    """Write the archive for workers on other machines into a folder."""
    path = folder / f"sub2sub-packages-{digest()}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("sub2sub_packages.py", _UNPACK.format(digest=digest()))
        for package in _PACKAGES:
            packed.writestr(f"{package}/__init__.py", _STUB)
        for file in _files():
            packed.write(file, Path("tree") / file.relative_to(ROOT))
    return path
