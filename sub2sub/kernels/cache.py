"""Where compiled kernels are kept: one folder for each text that kernels are made of.

numba's own cache looks only at the file a function stands in, so a kernel that calls one in another file
would keep running the old callee after an edit; and it files machine code under the path of the source, so a
second checkout of the same text compiles everything again. Here a folder is named after the text of all files
that a kernel's machine code comes from (`sub2sub.kernels.sources`): edit one of them, and what depends on it
is compiled anew; every checkout of the same text finds it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile, _CacheLocator

from sub2sub.kernels.compilers import CHECKED
from sub2sub.kernels.sources import digest_of

KEEP_DAYS = 14


@cache
def base() -> Path:
    """The folder of all kernels: below NUMBA_CACHE_DIR, or where a user's caches are."""
    chosen = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(chosen).expanduser() / ("sub2sub-checked" if CHECKED else "sub2sub")
    with contextlib.suppress(OSError):  # a cache that cannot be kept tidy is still a cache
        prune(folder)
    return folder


def prune(base: Path) -> None:
    """Forget the kernels of sources that nobody has run for long: each edit leaves folders behind."""
    for folder in base.glob("kernels-*"):
        if time.time() - folder.stat().st_mtime > KEEP_DAYS * 86_400:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def folder_of(path: Path) -> Path:
    """Where the kernels of a file are kept."""
    folder = base() / f"kernels-{digest_of(path)[:20]}"
    with contextlib.suppress(OSError):
        os.utime(folder)
    return folder


class KernelLocator(_CacheLocator):  # type: ignore[misc]
    """Tells numba where a kernel is kept."""

    def __init__(self, function: Callable[..., Any], path: Path) -> None:
        self._path, self._line = path, function.__code__.co_firstlineno
        self._py_file = str(path)  # numba's messages name it

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> KernelLocator | None:
        """The locator of a function; None if nothing can be kept."""
        locator = cls(function, Path(file).resolve())
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator

    def get_cache_path(self) -> str:
        """The folder."""
        return str(folder_of(self._path))

    def get_source_stamp(self) -> str:
        """What the kernel is made of."""
        return digest_of(self._path)

    def get_disambiguator(self) -> str:
        """Tells functions of one name in one file apart."""
        return str(self._line)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """While this lasts, numba keeps what it compiles where `KernelLocator` says."""
    before = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{KernelLocator.__name__}"
    try:
        yield
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before


class ForgivingFile(IndexDataCacheFile):  # type: ignore[misc]
    """What is kept of a kernel; what cannot be read counts as not there, and is compiled anew.

    A kernel may have been called with types of a package that is no longer installed.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except (ImportError, AttributeError, EOFError):
            return {}


def forgive(dispatcher: Any) -> Any:
    """Let a kernel be compiled anew where what was kept of it cannot be read."""
    if not numba.config.DISABLE_JIT:  # else it is the plain function
        dispatcher._cache._cache_file.__class__ = ForgivingFile
    return dispatcher
