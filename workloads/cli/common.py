"""What the commands share: options, a Spark session where it is worth one, progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from sub2sub.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workloads.spark.session import StageProgress

__all__ = ["master_option", "progress_bars", "quiet_option", "session", "spark_option"]

# Below this many rows, starting Spark takes longer than doing the work here.
_WORTH_SPARK = 20_000_000

master_option = click.option(
    "--master", metavar="URL", help="Spark master; this machine's cores if not given."
)
spark_option = click.option(
    "--spark/--no-spark", "use_spark", default=None, help="On Spark or in this process; by size if not given."
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress on standard error.")


@contextmanager
def session(master: str | None, use_spark: bool | None, rows: int) -> Iterator[SparkSession | None]:
    """A Spark session where one was asked for or the work is large; None otherwise."""
    wanted = use_spark if use_spark is not None else master is not None or rows >= _WORTH_SPARK
    if not wanted:
        if master is not None:
            raise InputError("--master and --no-spark: expected one or the other")
        yield None
        return
    from workloads.spark.session import spark_session

    with spark_session(master) as spark:
        yield spark


@contextmanager
def progress_bars(quiet: bool) -> Iterator[StageProgress | None]:
    """A bar per stage on standard error, with the time left; none where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:>13}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        stages: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in stages:
                stages[what] = bars.add_task(what, total=total)
            bars.update(stages[what], completed=done, total=total)

        yield report
