"""Progress of long commands: a bar with rate and remaining time on a terminal, one line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int], None]
"""Called as report(done, total)."""


@contextmanager
def progress_bar(title: str, unit: str = "", per_step: float = 1.0, quiet: bool = False) -> Iterator[Report]:
    """Draw a progress bar on standard error while the block runs; yields the function report(done, total).

    Without a terminal only the title is printed, and with `quiet` nothing.

    Parameters
    ----------
    title : str
    unit : str
        Unit of the rate, such as "peers"; empty for no rate.
    per_step : float
        Units per step.
    quiet : bool

    Examples
    --------
    >>> with progress_bar("cycles", quiet=True) as report:
    ...     report(1, 2)
    """
    if quiet or not sys.stderr.isatty():
        if not quiet:
            print(
                f"{title} ... (a first run compiles its kernels, about a minute)", file=sys.stderr, flush=True
            )
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{title}: starting (a first run compiles its kernels)", total=None, rate="")
        began, first = 0.0, -1

        def report(done: int, total: int) -> None:
            nonlocal began, first
            if (
                first < 0
            ):  # the rate is counted from the first report: the start is slow, and a resumed run starts later
                began, first = time.monotonic(), done
            rate = ""
            if unit and done > first:
                rate = f"{shown((done - first) * per_step / (time.monotonic() - began))} {unit}/s"
            bar.update(task, description=title, completed=done, total=total, rate=rate)

        yield report


def shown(value: object) -> str:
    """Format a value for people to read.

    Examples
    --------
    >>> shown([0.123456, 3]), shown({"a": 1234567.0}), shown("never")
    ('0.1235, 3', 'a 1,234,567', 'never')
    >>> shown([1.0, 0.99996, 0.9999999, 1.00003])
    '1, 0.99996, 0.9999999, 1.00003'
    """
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    if isinstance(value, dict):
        inner = (
            f"({shown(item)})" if isinstance(item, dict | list) else shown(item) for item in value.values()
        )
        return ", ".join(f"{key} {text}" for key, text in zip(value, inner, strict=True))
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
