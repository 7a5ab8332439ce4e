"""`sub2sub workload ...` and `sub2sub sweep ...`, for the command line of `sims` to mount."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sub2sub.errors import InputError
from workloads.cli_traces import churn, topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workloads.session import StageProgress

__all__ = ["cli", "sweep"]

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
def _session(master: str | None, use_spark: bool | None, rows: int) -> Iterator[SparkSession | None]:
    """A Spark session where one was asked for or the work is large; None otherwise."""
    wanted = use_spark if use_spark is not None else master is not None or rows >= _WORTH_SPARK
    if not wanted:
        if master is not None:
            raise InputError("--master and --no-spark: expected one or the other")
        yield None
        return
    from workloads.session import spark_session

    with spark_session(master) as spark:
        yield spark


@contextmanager
def _progress(quiet: bool) -> Iterator[StageProgress | None]:
    """A bar per stage on standard error, with the time left."""
    if quiet:
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


@click.group("workload")
def cli() -> None:
    """Generate, import, match and describe workloads.

    \b
    sub2sub workload generate --spec power-law-3 --subscribers 10000 --events 10000 --out w
    sub2sub workload match w
    sub2sub workload stats w
    """


cli.add_command(topics)
cli.add_command(churn)


@cli.command("list")
def list_names() -> None:
    """List the workloads that have a name."""
    from workloads.catalogue import NAMES

    for name in NAMES:
        click.echo(name)


@cli.command()
@click.argument("spec")
def show(spec: str) -> None:
    """Print a workload, named or a .toml file, as it is understood, in JSON."""
    from workloads.specfile import resolve, to_dict

    click.echo(json.dumps(to_dict(resolve(spec)), indent=2))


@cli.command()
@click.option("--spec", required=True, metavar="FILE|NAME", help="A .toml file or a name; see `list`.")
@click.option("--subscribers", type=click.IntRange(0), required=True, metavar="N")
@click.option("--events", type=click.IntRange(0), default=0, show_default=True, metavar="M")
@click.option(
    "--at-least", type=click.IntRange(0), default=2, show_default=True, help="Matches of each event."
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True)
@click.option("--partitions", type=click.IntRange(1), help="Spark tasks to share the files among.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR")
@master_option
@spark_option
@quiet_option
def generate(
    spec: str,
    subscribers: int,
    events: int,
    at_least: int,
    seed: int,
    partitions: int | None,
    out: Path,
    master: str | None,
    use_spark: bool | None,
    quiet: bool,
) -> None:
    """Write subscriptions and events to DIR as Parquet, the same bytes wherever it runs.

    \b
    sub2sub workload generate --spec uniform-2 --subscribers 1000 --events 100 --out w
    sub2sub workload generate --spec stocks.toml --subscribers 100000000 --out big --spark
    """
    from workloads.generate import generate as write
    from workloads.specfile import resolve

    resolved = resolve(spec)
    with ExitStack() as stack:
        spark = stack.enter_context(_session(master, use_spark, subscribers + events))
        progress = stack.enter_context(_progress(quiet))
        write(
            resolved, subscribers, events, seed, out,
            at_least=at_least, spark=spark, partitions=partitions, progress=progress,
        )  # fmt: skip
    click.echo(f"{out}: {subscribers} subscriptions, {events} events of {resolved.name}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--rings", is_flag=True, help="List every ring too, not only its length.")
@master_option
@spark_option
@quiet_option
def match(folder: Path, rings: bool, master: str | None, use_spark: bool | None, quiet: bool) -> None:
    """Find each event's matching subscribers: their number in DIR/matches, the rings in DIR/rings."""
    from workloads.layout import open_workload
    from workloads.rings import count_rings, list_rings, ring_sizes

    workload = open_workload(folder)
    with ExitStack() as stack:
        spark = stack.enter_context(_session(master, use_spark, workload.subscribers + workload.events))
        progress = stack.enter_context(_progress(quiet))
        count_rings(workload, spark, progress)
        if rings:
            list_rings(workload, spark, progress)
    sizes = ring_sizes(workload)
    spread = (
        f"rings of {sizes.min()} to {sizes.max()}, mean {sizes.mean():.1f}" if len(sizes) else "no events"
    )
    click.echo(f"{folder}: {len(sizes)} events, {spread}")


@cli.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Default: statistics/."
)
@click.option("--peers", type=click.IntRange(0), default=100, show_default=True, help="Sample of peers.")
@click.option(
    "--by", multiple=True, metavar="COLUMN", help="Over runs: group by this column; may be repeated."
)
@click.option(
    "--metric", multiple=True, metavar="COLUMN", help="Over runs: average this column; may be repeated."
)
@master_option
def stats(
    sources: tuple[Path, ...],
    out: Path | None,
    peers: int,
    by: tuple[str, ...],
    metric: tuple[str, ...],
    master: str | None,
) -> None:
    """Describe a workload folder, or average tables of many runs with confidence intervals.

    \b
    sub2sub workload stats w
    sub2sub workload stats runs/*/rings.parquet --by cycle --metric complete
    """
    from workloads.statistics import markdown, write_statistics

    if metric:
        from workloads.runs import summarise_to
        from workloads.session import spark_session

        with spark_session(master) as spark:
            table = summarise_to(spark, sources, by, metric, out or Path("statistics"))
        click.echo(markdown(table))
        return
    if len(sources) > 1:
        raise InputError("stats: expected one workload folder, or --metric with the tables of several runs")
    from workloads.layout import open_workload
    from workloads.rings import ring_sizes

    workload = open_workload(sources[0])
    out = out or sources[0] / "statistics"
    has_rings = (workload.folder / "rings").exists()
    with _session(master, None, int(ring_sizes(workload).sum()) if has_rings else 0) as session:
        write_statistics(workload, out, session, peers)
    click.echo((out / "statistics.md").read_text())


@cli.command("import")
@click.argument("subscriptions", type=click.Path(path_type=Path, exists=True))
@click.option("--events", type=click.Path(path_type=Path, exists=True), help="Table of events.")
@click.option(
    "--column", "columns", multiple=True, metavar="X=LOW,HIGH", help="Columns of attribute X; X=COL: exact."
)
@click.option(
    "--event-column", "event_columns", multiple=True, metavar="X=COL", help="Column of attribute X."
)
@click.option("--set-aside", is_flag=True, help="Write rows that cannot be used to DIR/rejected and go on.")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Of the ring IDs."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR")
def import_(
    subscriptions: Path,
    events: Path | None,
    columns: tuple[str, ...],
    event_columns: tuple[str, ...],
    set_aside: bool,
    seed: int,
    out: Path,
) -> None:
    """Make a workload folder of CSV, Parquet or Arrow files from elsewhere.

    \b
    sub2sub workload import orders.csv --column price=min_price,max_price --events trades.csv --out w
    """
    from workloads.importing import import_workload

    workload = import_workload(
        subscriptions,
        events,
        out,
        columns={name: _ends(value) for name, value in _pairs(columns)} or None,
        event_columns=dict(_pairs(event_columns)),
        on_bad="set aside" if set_aside else "refuse",
        seed=seed,
    )
    click.echo(f"{out}: {workload.subscribers} subscriptions, {workload.events} events")
    for kind, count in workload.manifest["rejected"].items():
        click.echo(f"{out}/rejected/{kind}.csv: {count} rows that could not be used")


def _pairs(options: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs = []
    for option in options:
        name, equals, value = option.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option!r}: expected ATTRIBUTE=COLUMN")
        pairs.append((name, value))
    return pairs


def _ends(value: str) -> str | tuple[str, str]:
    low, comma, high = value.partition(",")
    return (low, high) if comma else value


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR")
@master_option
@click.option(
    "--spark/--no-spark", "use_spark", default=True, help="On Spark, or one by one in this process."
)
@quiet_option
def sweep(file: Path, out: Path, master: str | None, use_spark: bool, quiet: bool) -> None:
    """Run a grid of settings times seeds, one run per task; runs that are done are skipped.

    \b
    sub2sub sweep sweep.toml --out results
    sub2sub sweep sweep.toml --out results --master spark://HOST:7077
    """
    from workloads.sweep import load_sweep
    from workloads.sweep import sweep as run

    plan = load_sweep(file)
    with ExitStack() as stack:
        spark = stack.enter_context(_session(master, use_spark, 0))
        progress = stack.enter_context(_progress(quiet))
        table = run(plan, out, spark, progress)
    failed = [row for row in table.to_pylist() if row["error"] is not None]
    click.echo(f"{out}/results.parquet: {table.num_rows} runs, {len(failed)} failed")
    for row in failed[:10]:
        click.echo(f"  {row['run']}: {row['error']}", err=True)
    if failed:
        raise SystemExit(1)
