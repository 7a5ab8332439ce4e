"""Packages that import the names they pass on when these are first used.

A live node uses a package's interface and none of its kernels; it does not wait for the compiler then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazily(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that passes on names of modules, given by module.

    Examples
    --------
    >>> attribute = lazily("hierarchy", {"hierarchy.topics.tree": ["ROOT"]})
    >>> attribute("ROOT")
    '.'
    """
    module_of = {name: module for module, some in names.items() for name in some}

    def attribute(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)  # found there from now on
        return value

    return attribute
