"""Progress of long work on standard error, for those who ask for it (`progress=True`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TypeVar

T = TypeVar("T")


def tracked(steps: Iterable[T], total: int, what: str, shown: bool = True) -> Iterator[T]:
    """Pass steps on, and show how many of the total are done: by a bar of rich, if that is installed.

    Examples
    --------
    >>> list(tracked(range(3), 3, "cycles", shown=False))
    [0, 1, 2]
    """
    if not shown:
        yield from steps
    elif find_spec("rich") is None:
        for done, step in enumerate(steps, start=1):
            yield step
            print(f"\r{what}: {done} of {total}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    else:
        console = import_module("rich.console").Console(stderr=True)
        yield from import_module("rich.progress").track(steps, what, total, console=console)
