"""Where compiled kernels are kept: one folder for each text that kernels are made of.

numba's own cache looks only at the file a function stands in, so a kernel that calls one in another file
would keep running the old callee after an edit; and it files machine code under the path of the source, so a
second checkout of the same text compiles everything again. Here a folder is named after the text of all files
that a kernel's machine code comes from: edit one of them, and what depends on it is compiled anew; every
checkout of the same text finds it.

These files are the kernel's own and all that this one imports, however far away: machine code contains that
of the functions a kernel calls and the constants it mentions. Only packages of this project, and the package
of the file itself, are followed: others change with their version. Imports are found in the text, so nothing
is imported to find out.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock

from sub2sub.compiled.common.memory import CHECKED
from sub2sub.compiled.machinery.switch import WITHOUT

PROJECT = ("sub2sub", "hierarchy", "workloads", "sims")
HERE = Path(__file__).resolve().parents[3]
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.M
)
NAME = re.compile(r"[.\w]+")


def root_of(path: Path) -> Path:
    """The folder that a file is imported from: where its outermost package stands.

    Examples
    --------
    >>> root_of(Path(__file__)) == HERE
    True
    """
    root = path.parent
    while (root / "__init__.py").exists():
        root = root.parent
    return root


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The files that one file imports."""
    root = root_of(path)
    inside = path.relative_to(root).parts
    own = inside[0] if len(inside) > 1 else ""
    found: set[Path] = set()
    for module in _modules(path.read_text(), inside[:-1]):
        top, _, _ = module.partition(".")
        if top in PROJECT:
            found |= _files(HERE, module) or _files(root, module)
        elif top == own or not own:
            found |= _files(root, module)
    return frozenset(found - {path})


def _modules(text: str, package: tuple[str, ...]) -> Iterator[str]:
    """The modules that a text may import; `from a import b` may mean a.b as well as a."""
    for source, names, plain in IMPORT.findall(text):
        if plain:
            yield from (part.split()[0] for part in plain.split(",") if part.split())
            continue
        above = len(source) - len(source.lstrip("."))
        if above:
            source = ".".join((*package[: len(package) + 1 - above], *filter(None, [source.lstrip(".")])))
        yield source
        yield from (f"{source}.{name}" for name in NAME.findall(names))


@cache
def _files(root: Path, module: str) -> frozenset[Path]:
    place = root.joinpath(*module.split("."))
    files = (place.with_suffix(".py"), place / "__init__.py", place / "__init__.pyi")
    return frozenset(path for path in files if path.is_file())


@cache
def sources_of(path: Path) -> frozenset[Path]:
    """A file and all files it imports, directly or through others.

    Examples
    --------
    >>> sorted(path.name for path in sources_of(HERE / "sub2sub" / "compiled" / "common" / "threads.py"))
    ['errors.py', 'threads.py']
    """
    found, waiting = {path}, [path]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def digest_of(path: Path) -> str:
    """A digest of all that the kernels of a file are made of, wherever the project is installed."""
    digest = hashlib.sha256()
    for each in sorted(sources_of(path), key=lambda each: each.relative_to(root_of(each)).as_posix()):
        digest.update(each.relative_to(root_of(each)).as_posix().encode() + b"\0" + _content(each))
    return digest.hexdigest()


@cache
def _content(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


KEEP_DAYS = 14


@cache
def base() -> Path:
    """The folder of all kernels: below NUMBA_CACHE_DIR, or where a user's caches are."""
    chosen = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    name = "-".join(["sub2sub", *["checked"] * CHECKED, *(f"without-{part}" for part in WITHOUT)])
    folder = Path(chosen).expanduser() / name
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
    with global_compiler_lock:  # one thread at a time
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
