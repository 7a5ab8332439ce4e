"""Packages that import the names they pass on when these are first used.

`import sub2sub` does not wait for numba then, and a live node uses the interface of CAMCAST and none of its
kernels. The names stand in the package's `__init__.pyi`, one import a line, for type checkers and `lazily`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data
from typing import Any


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Examples
    --------
    >>> import sub2sub
    >>> attribute, names, _ = lazily("sub2sub")
    >>> attribute("InputError").__module__, names()[0]
    ('sub2sub.errors', 'AttributeSpace')
    """
    origin: dict[str, tuple[str, str]] = {}  # of a public name: its module, and its name there
    names = get_data(package, "__init__.pyi")  # from an archive, too, as Spark's workers have it
    for line in (names or b"").decode().splitlines():
        _, module, _, name, _, public = line.split()
        origin[public] = module, name
    listed = sorted(name for name in origin if not name.startswith("_"))

    def attribute(name: str) -> Any:
        if name not in origin:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, name_there = origin[name]
        value = getattr(import_module(module), name_there)
        setattr(sys.modules[package], name, value)  # found there from now on
        return value

    return attribute, lambda: listed, listed
