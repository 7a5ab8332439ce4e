"""Options and output that several commands share: where to run, progress, JSON."""

from __future__ import annotations

import functools
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sub2sub.errors import InputError
from workloads.settings.plugins import allow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workloads.spark.tasks import Spark, StageProgress

F = TypeVar("F", bound=Callable[..., Any])


class _Path(click.Path):
    """A path that is not empty: an empty one, such as an unset variable, would be the current folder."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if value == "":
            self.fail("expected a path, it is empty", parameter, context)
        return super().convert(value, parameter, context)


def _try_to_write(folder: Path) -> None:
    """Make a folder and a file in it, and remove both; if that is impossible, the error names the folder."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None
    finally:
        for made in missing:
            with suppress(OSError):
                made.rmdir()


class _Output(_Path):
    """A folder or a file to write to: that is tried before any work is done."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        path: Path = super().convert(value, parameter, context)
        _try_to_write(path if self.dir_okay else path.parent)
        return path


OUT_FILE = _Output(path_type=Path, dir_okay=False)
OUT_FOLDER = _Output(path_type=Path, file_okay=False)
FILE = _Path(path_type=Path, dir_okay=False)
EXISTING_FILE = _Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = _Path(path_type=Path, file_okay=False)
PLACE = _Path(path_type=Path)  # a file or a folder
TABLE = _Path(path_type=Path, exists=True)  # a file, or a folder of files


def _consent(context: click.Context, parameter: click.Parameter, modules: tuple[str, ...]) -> None:
    allow(modules)


allow_option = click.option(
    "--allow", multiple=True, metavar="MODULE", expose_value=False, callback=_consent, is_eager=True,
    help="Allow files to name code of this module; other modules are not imported.",
)  # fmt: skip
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else."
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace a workload that is in DIR.")
always_json_option = click.option(
    "--json", is_flag=True, expose_value=False, help="Accepted for uniformity: the output is JSON anyway."
)
seed_option = click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, help="Random seed.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress on standard error.")
subscribers_option = click.option(
    "--subscribers", type=click.IntRange(0), required=True, metavar="N", help="Number of subscriptions."
)
events_option = click.option(
    "--events", type=click.IntRange(0), default=0, metavar="M", help="Number of events."
)


def print_json(value: Any) -> None:
    """Print a result as JSON; dates, paths and other types that JSON lacks become text."""
    click.echo(json.dumps(value, indent=2, default=str))


def print_result(as_json: bool, value: Any, *lines: str) -> None:
    """Print a result as JSON, or as lines of text."""
    if as_json:
        print_json(value)
        return
    for line in lines:
        click.echo(line)


def numbers(text: str, field: str, kind: type, expected: str) -> list[Any]:
    """Numbers with commas between them."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{field}: expected {expected}, got {text!r}") from None


class NumberRange(click.FloatRange):
    """A range of numbers. NaN is refused, which click accepts in every range."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """The number."""
        found = float(super().convert(value, parameter, context))
        if math.isnan(found):
            self.fail(f"{value} is not a number.", parameter, context)
        return found


class Address(click.ParamType[str]):
    """A folder: a path of this machine, or an address that Spark knows, such as s3a://bucket/w."""

    name = "address"

    def __init__(self, exists: bool = False) -> None:
        self.exists = exists

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """The address."""
        own = TABLE if self.exists else OUT_FOLDER
        return str(value if is_elsewhere(value) else own.convert(value, parameter, context))


def is_elsewhere(address: str) -> bool:
    """Whether an address has a scheme, so that Spark reads it and nothing else does.

    Examples
    --------
    >>> is_elsewhere("s3a://bucket/w"), is_elsewhere("dbfs:/w"), is_elsewhere("out/w")
    (True, True, False)
    """
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:/", address) is not None


workload_option = click.option(
    "--out", type=Address(), required=True, metavar="DIR", help="Folder to write to, at any address of Spark."
)
out_option = click.option("--out", type=OUT_FOLDER, required=True, metavar="DIR", help="Folder to write to.")


@dataclass(frozen=True)
class Where:
    """Options that decide where a command runs."""

    master: str | None = None
    spark: bool = False
    memory: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    remote: str | None = None

    @property
    def asked(self) -> bool:
        """Whether an option asks for Spark."""
        return bool(self.spark or self.master or self.memory or self.conf or self.remote)

    @contextmanager
    def session(self) -> Iterator[Spark]:
        """Yield a Spark session if the options require one, else None."""
        if not self.asked:
            yield None
            return
        with self.started("tasks", quiet=True) as spark:  # the plan shows its own progress
            yield spark

    @contextmanager
    def started(self, what: str, quiet: bool = False) -> Iterator[SparkSession]:
        """Yield a Spark session; on a terminal show that it starts, and the progress of its stages."""
        from workloads.spark.session import spark_session
        from workloads.spark.tasks import as_raised, watched

        with progress_bars(quiet) as report, ExitStack() as session:
            if report:
                report(f"Spark ({self.remote or self.master or 'this machine'}) starts", 0, 1)
            spark = session.enter_context(spark_session(self.master, self.memory, self.conf, self.remote))
            session.enter_context(watched(spark, what, report))
            try:
                yield spark
            except (InputError, OSError):
                raise
            except Exception as failure:
                raise as_raised(failure) from failure


def where_options(command: F) -> F:
    """Add the options that decide where a command runs; it gets them as `where`."""
    options = [
        click.option("--master", metavar="URL", help="Spark master; this machine's cores if not given."),
        click.option("--spark", is_flag=True, help="On Spark; workloads are on it anyway."),
        click.option(
            "--memory", metavar="SIZE", help="Memory of Spark's driver and of each executor, such as 4g."
        ),
        click.option(
            "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be repeated."
        ),
        click.option("--remote", metavar="URL", help="Server of Spark Connect, sc://HOST:PORT."),
    ]

    @functools.wraps(command)
    def called(*arguments: Any, conf: tuple[str, ...], **others: Any) -> Any:
        own = {name: others.pop(name) for name in ("master", "spark", "memory", "remote")}
        return command(*arguments, where=Where(**own, conf=_settings(conf)), **others)

    decorated: Any = called
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _settings(conf: tuple[str, ...]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in conf]
    for (key, equals, _), setting in zip(pairs, conf, strict=True):
        if not key.startswith("spark.") or not equals:
            raise InputError(f"--conf {setting}: expected spark.KEY=VALUE")
    return {key: value for key, _, value in pairs}


@contextmanager
def progress_bars(quiet: bool, unit: str = "", per_step: float = 1.0) -> Iterator[StageProgress | None]:
    """Show a bar per stage on standard error, with rate and time left, if it is a terminal; else yield None.

    Bars are gone at the end, so that a mistake leaves nothing but its own line.

    The rate is in units, such as "peers", of which a step has `per_step`; without a unit no rate is shown.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:>13}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        stages: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in stages:
                stages[what] = bars.add_task(what, total=total, rate="")
            speed = per_step * (bars.tasks[stages[what]].speed or 0.0)
            rate = f"{speed:,.0f}" if speed >= 100 else f"{speed:.2g}"
            shown = f"{rate} {unit}/s" if unit and speed else ""
            bars.update(stages[what], completed=done, total=total, rate=shown)

        yield report
