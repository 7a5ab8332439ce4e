"""Packages that import the names they pass on when these are first used.

`import sub2sub` does not wait for numba then, and a live node uses the interface of CAMCAST and none of its
kernels. The names stand in the package's `__init__.pyi`, one import a line, for type checkers and `lazily`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazily(package: str, init: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, given its name and the file of its code.

    Examples
    --------
    >>> import sub2sub
    >>> attribute, names, _ = lazily("sub2sub", sub2sub.__file__)
    >>> attribute("InputError").__module__, names()[0]
    ('sub2sub.errors', 'AttributeSpace')
    """
    origin: dict[str, tuple[str, str]] = {}  # of a public name: its module, and its name there
    loader: Any = sys.modules[package].__loader__  # reads from an archive, too, as Spark's workers have it
    for line in loader.get_data(str(Path(init).with_suffix(".pyi"))).decode().splitlines():
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
