"""What commands show: the progress of long ones, and values for people to read."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sub2sub.errors import InputError
from workloads.cli.common import progress_bars

SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
Report = Callable[[int, int], None]
"""Called as report(done, total)."""


@contextmanager
def progress_bar(title: str, unit: str = "", per_step: float = 1.0, quiet: bool = False) -> Iterator[Report]:
    """Print a title at the first report, and draw a bar on standard error; yields report(done, total).

    So an error that comes before any work stands alone. Without a terminal there is no bar; with `quiet`
    nothing is printed. Rates as in `progress_bars`.

    Examples
    --------
    >>> with progress_bar("cycles", quiet=True) as report:
    ...     report(1, 2)
    """
    titles = [] if quiet else [f"{title} ..."]
    with progress_bars(quiet, unit, per_step) as bars:

        def report(done: int, total: int) -> None:
            while titles:
                print(titles.pop(), file=sys.stderr, flush=True)
            if bars:
                bars(title, done, total)

        yield report


def per_second(rate: str) -> float:
    """Events per second.

    Examples
    --------
    >>> per_second("30/min")
    0.5
    """
    given = re.fullmatch(r"([\d.]+)\s*/\s*(s|min|h|d)", rate)
    if given is None or float(given[1]) <= 0:
        raise InputError(f"--rate: expected a number of events such as 5/s, 100/min, 20/h, got {rate!r}")
    return float(given[1]) / SECONDS[given[2]]


def shown(value: object) -> str:
    """Format a value for people to read.

    Examples
    --------
    >>> shown([0.123456, 3]), shown({"a": 1234567.0, "b": [1, 2.5]}), shown("never")
    ('0.1235, 3', 'a: 1,234,567; b: 1, 2.5', 'never')
    >>> shown([1.0, 0.99996, 0.9999999, 1.00003])
    '1, 0.99996, 0.9999999, 1.00003'
    """
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return ", ".join(f"({shown(item)})" if isinstance(item, list) else shown(item) for item in value)
    if isinstance(value, dict):
        inner = [f"({shown(item)})" if isinstance(item, dict) else shown(item) for item in value.values()]
        return "; ".join(f"{key}: {text}" for key, text in zip(value, inner, strict=True))
    return str(value)


def _number(value: float) -> str:
    """Format a number with four digits, or with more if it would be rounded to a whole number."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    for digits in range(4, 17):
        text = f"{value:.{digits}g}"
        if not float(text).is_integer() or value.is_integer():
            return text
    return repr(value)
