"""Our packages as files: their digest, and the archive that is sent to other machines.

A digest of all source files and shipped experiments identifies the code that made a result. Workers import
from the archive as from any other; numba keeps the kernels of files in it in its cache. Experiments that are
shipped as files are not found there: simulations need an installed package.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from workloads.files.checked import file_digest

ROOT = Path(__file__).parents[2]
_PACKAGES = ("sub2sub", "hierarchy", "workloads", "sims")


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
    """Write the archive for workers on other machines into a folder; Python imports from it as it is."""
    path = folder / f"sub2sub-packages-{digest()}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in _files():
            packed.write(file, file.relative_to(ROOT))
    return path
