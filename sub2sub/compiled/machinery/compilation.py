"""Compiling kernels once.

`@kernel` is `numba.njit` with the settings every loop here uses and a cache on disk
(`sub2sub.compiled.machinery.cache`). Where speed counts there are stricter forms, for functions that allocate
nothing (scratch arrays are passed in):

- `@hot` leaves out reference counting. numba counts every row `view[i]` it looks at, with an atomic
  operation each, which is most of the cost of a loop over a million small rows.
- `@apart` is a `hot` function too large to be inlined.
- `@part` is a `hot` function that only one other calls, compiled as a part of it.
- `@rule` is a `hot` function that is inlined wherever it is called: the small pure functions that kernels are
  made of, where passing a few arrays would cost more than the work.

numba compiles a function once for each set of argument types. Of `rule` and `apart` functions there are few
such sets, because a number in the source is taken for an int64 (`sub2sub.compiled.machinery.callees`).

With SUB2SUB_PLAIN=1 all of these are `numba.njit` (`sub2sub.plain_numba`), and nothing of numba is changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from sub2sub.compiled.machinery.switch import PLAIN, uses
from sub2sub.plain_numba import jitted

F = TypeVar("F", bound=Callable[..., Any])

# Nobody calls kernels from C.
SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HOT: dict[str, Any] = {"_nrt": False}

if not PLAIN:
    from sub2sub.compiled.machinery.cache import forgive, kept
    from sub2sub.compiled.machinery.callees import Callee
    from sub2sub.compiled.machinery.compilers import HotCompiler, KernelCompiler

    SETTINGS["pipeline_class"], HOT["pipeline_class"] = KernelCompiler, HotCompiler


def _compiled(function: F, **options: Any) -> F:
    if PLAIN:
        return jitted(function)
    options = {**SETTINGS, **options}
    if not Path(function.__code__.co_filename).exists():  # a doctest or a console: nothing to key a cache by
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    with kept(), contextlib.suppress(RuntimeError):  # raised where nothing can be written
        return forgive(numba.njit(cache=True, **options)(function))  # type: ignore[no-any-return]
    return numba.njit(**options)(function)  # type: ignore[no-any-return]


def _called(function: F, **options: Any) -> F:
    """Compile a function that kernels call often, and Python seldom."""
    if numba.config.DISABLE_JIT:
        return function
    if not uses("callees"):
        return _compiled(function, **HOT, **options)

    def for_python(function: Any) -> Any:
        return _compiled(function, **HOT, **options)

    return Callee(function, {**SETTINGS, "_nrt": False, **options}, for_python)  # type: ignore[return-value]


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


def plain(function: F) -> F:
    """The function as it is written: for a call now and then that is not worth compiling.

    Examples
    --------
    >>> plain(kernel(lambda x: 2 * x))(21)
    42
    """
    return getattr(function, "py_func", function)


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
    return _compiled(function, **HOT)


def apart(function: F) -> F:
    """A `hot` function that is called where it is needed, even by functions that are inlined themselves.

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
    return _called(function, forceinline=False)


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
    return _called(function, forceinline=True)


def part(function: F) -> F:
    """A `hot` function that is only ever a part of one other, and is compiled with it, not by itself.

    What is compiled by itself is made into machine code even if all functions that call it have a copy of
    their own.

    Examples
    --------
    >>> @part
    ... def third(x):
    ...     return x / 3
    >>> third(42)
    14.0
    """
    return _compiled(function, **HOT, inline="always")
