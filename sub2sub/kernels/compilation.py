"""Compiling kernels once.

`@kernel` is `numba.njit` with the settings every loop here uses and a cache on disk. Where speed counts there
are two stricter forms, for functions that allocate nothing (scratch arrays are passed in):

- `@hot` leaves out reference counting. numba counts every row `view[i]` it looks at, with an atomic
  operation each, which is most of the cost of a loop over a million small rows.
- `@apart` is a `hot` function too large to be inlined.
- `@rule` is a `hot` function that is inlined wherever it is called: the small pure functions that kernels are
  made of, where passing a few arrays would cost more than the work.

numba compiles a function once for each set of argument types, and takes a literal argument for a type of its
own: `f(x, 1)` and `f(x, -1)` are two. Where that costs more than it gains, `np.int64` is put around it.

numba's own cache looks only at the file a function stands in, so a kernel that calls one in another file
would keep running the old callee after an edit. The cache folder is therefore named after the text of all
files of the package: edit one, and that package's kernels are compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

__all__ = ["apart", "hot", "in_memory", "is_compiled", "kernel", "rule"]

KEEP_DAYS = 14

F = TypeVar("F", bound=Callable[..., Any])


@cache
def _digest(package: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def _cache_folder(package: Path) -> str:
    base = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    key = hashlib.sha256((_digest(Path(__file__).parents[1]) + _digest(package)).encode()).hexdigest()[:16]
    folder = Path(base).expanduser() / "sub2sub" / f"kernels-{key}"
    with contextlib.suppress(OSError):  # a cache that cannot be kept tidy is still a cache
        if folder.exists():
            os.utime(folder)
        else:
            _prune(folder.parent)
    return str(folder)


def _prune(base: Path) -> None:
    """Forget the kernels of sources that nobody has run for long: each edit leaves a folder behind."""
    for folder in base.glob("kernels-*"):
        if time.time() - folder.stat().st_mtime > KEEP_DAYS * 86_400:
            shutil.rmtree(folder, ignore_errors=True)


def _compiled(function: F, **options: Any) -> F:
    path = Path(function.__code__.co_filename)
    # Nobody calls kernels from C.
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if not path.exists():  # a doctest or a console: nothing on disk to key a cache by
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    # The package is the outermost folder with an __init__.py; a lone file is its own folder.
    package = path.parent
    while (package.parent / "__init__.py").exists():
        package = package.parent
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _cache_folder(package)
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: F) -> F:
    """Compile `function` with numba on first call, and keep the machine code on disk.

    Examples
    --------
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    return _compiled(function)


def in_memory(function: F) -> F:
    """A `kernel` that is not kept on disk: for one made around a user's function, which may change.

    Examples
    --------
    >>> @in_memory
    ... def triple(x):
    ...     return 3 * x
    >>> triple(14)
    42
    """
    return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def is_compiled(function: object) -> bool:
    """Whether numba compiles a function, so that kernels can call it.

    Examples
    --------
    >>> is_compiled(len), is_compiled(kernel(lambda x: x))
    (False, True)
    """
    return hasattr(function, "py_func")


def hot(function: F) -> F:
    """A `kernel` without reference counting; it must not allocate.

    Examples
    --------
    >>> @hot
    ... def total(x):
    ...     s = 0.0
    ...     for item in x:
    ...         s += item
    ...     return s
    >>> import numpy as np
    >>> total(np.ones(3))
    3.0
    """
    return _compiled(function, _nrt=False)


def apart(function: F) -> F:
    """A `hot` function that is compiled once and called, even by functions that are inlined themselves.

    numba hands the wish to be inlined down to all that a `rule` calls, which for large functions
    makes machine code, and the time to compile it, many times as large.

    Examples
    --------
    >>> @apart
    ... def twice(x):
    ...     return x + x
    >>> twice(21)
    42
    """
    return _compiled(function, _nrt=False, forceinline=False)


def rule(function: F) -> F:
    """A `hot` function that is inlined into those that call it.

    Examples
    --------
    >>> @rule
    ... def half(x):
    ...     return x / 2
    >>> half(42)
    21.0
    """
    return _compiled(function, _nrt=False, forceinline=True)
