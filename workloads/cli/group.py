"""`sub2sub workload ...` and `sub2sub sweep ...`, for the command line of `sims` to mount."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click

from sub2sub.errors import InputError
from workloads.cli.common import (
    Place,
    Where,
    always_json_option,
    json_option,
    out_option,
    overwrite_option,
    print_json,
    progress_bars,
    quiet_option,
    seed_option,
    where_options,
)
from workloads.cli.stats import stats
from workloads.cli.suggestions import Suggesting
from workloads.cli.sweeps import sweep
from workloads.cli.traces import churn, topics
from workloads.spec.types import KINDS, Kind, ValueType

__all__ = ["cli", "sweep"]


@click.group("workload", cls=Suggesting)
def cli() -> None:
    """Generate, import, match and describe workloads.

    \b
    sub2sub workload generate --spec power-law-3 --subscribers 10000 --events 10000 --out w
    sub2sub workload match w
    sub2sub workload stats w
    """


cli.add_command(topics)
cli.add_command(churn)
cli.add_command(stats)


@cli.command("list")
@json_option
def list_names(as_json: bool) -> None:
    """List the workloads that have a name."""
    from workloads.spec.catalogue import NAMES

    if as_json:
        print_json(list(NAMES))
        return
    for name in NAMES:
        click.echo(name)


@cli.command()
@click.argument("spec")
@always_json_option
def show(spec: str) -> None:
    """Print a workload, given by name or as a .toml file, as JSON with all its settings."""
    from workloads.spec.files import resolve, to_dict

    click.echo(json.dumps(to_dict(resolve(spec)), indent=2))


@cli.command()
@click.option("--spec", required=True, metavar="FILE|NAME", help="A .toml file or a name; see `list`.")
@click.option(
    "--subscribers", type=click.IntRange(0), required=True, metavar="N", help="Number of subscriptions."
)
@click.option(
    "--events", type=click.IntRange(0), default=0, show_default=True, metavar="M", help="Number of events."
)
@click.option(
    "--at-least",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="Least number of subscribers that match an event.",
)
@click.option(
    "--cycles",
    type=click.IntRange(0),
    default=0,
    metavar="C",
    help="Cycles of the churn trace, for a spec with churn.",
)
@seed_option
@click.option("--partitions", type=click.IntRange(1), help="Spark tasks to share the files among.")
@out_option
@overwrite_option
@where_options
@json_option
@quiet_option
def generate(
    spec: str,
    subscribers: int,
    events: int,
    at_least: int,
    cycles: int,
    seed: int,
    partitions: int | None,
    out: Path,
    overwrite: bool,
    where: Where,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write subscriptions and events to DIR as Parquet, the same bytes wherever it runs.

    \b
    sub2sub workload generate --spec uniform-2 --subscribers 1000 --events 100 --out w
    sub2sub workload generate --spec stocks.toml --subscribers 100000000 --out big --spark
    sub2sub workload generate --spec news.toml --subscribers 1000 --cycles 200 --out churning
    """
    from workloads.generate.generate import generate as write
    from workloads.spec.files import resolve

    resolved = resolve(spec)
    with ExitStack() as stack:
        spark = stack.enter_context(where.session())
        progress = stack.enter_context(progress_bars(quiet))
        write(
            resolved, subscribers, events, seed, out,
            at_least=at_least, cycles=cycles, spark=spark, partitions=partitions, progress=progress,
            overwrite=overwrite,
        )  # fmt: skip
    if as_json:
        print_json({"folder": out, "workload": resolved.name, "subscriptions": subscribers, "events": events})
        return
    click.echo(f"{out}: {subscribers} subscriptions, {events} events of {resolved.name}")


@cli.command()
@click.argument("folder", type=Place(exists=True))
@click.option("--rings", is_flag=True, help="List every ring too, not only its length.")
@where_options
@json_option
@quiet_option
def match(folder: Path, rings: bool, where: Where, as_json: bool, quiet: bool) -> None:
    """Find each event's matching subscribers: their number in DIR/matches, the rings in DIR/rings."""
    from workloads.folder.layout import open_workload
    from workloads.match.rings import list_rings
    from workloads.match.tiles import count_rings, ring_sizes

    workload = open_workload(folder)
    with ExitStack() as stack:
        spark = stack.enter_context(where.session())
        progress = stack.enter_context(progress_bars(quiet))
        count_rings(workload, spark, progress)
        if rings:
            list_rings(workload, spark, progress)
    sizes = ring_sizes(workload)
    spread = (
        f"rings of {sizes.min()} to {sizes.max()}, mean {sizes.mean():.1f}" if len(sizes) else "no events"
    )
    if as_json:
        ends = {"least": int(sizes.min()), "greatest": int(sizes.max())} if len(sizes) else {}
        mean = {"mean": float(sizes.mean())} if len(sizes) else {}
        print_json({"folder": folder, "events": len(sizes), "rings": {**ends, **mean}})
        return
    click.echo(f"{folder}: {len(sizes)} events, {spread}")


@cli.command("import")
@click.argument("subscriptions", type=click.Path(path_type=Path, exists=True))
@click.option("--events", type=click.Path(path_type=Path, exists=True), help="Table of events.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="X=LOW,HIGH",
    help="Columns with the range of attribute X, or X=COL for exact values.",
)
@click.option(
    "--event-column",
    "event_columns",
    multiple=True,
    metavar="X=COL",
    help="Column of attribute X in the table of events.",
)
@click.option(
    "--type", "types", multiple=True, metavar="X=TYPE",
    help="Type of attribute X: float, int, bool, string, timestamp, date, enum, enum:A,B,C; guessed from its "
    "columns if not given.",
)  # fmt: skip
@click.option(
    "--topics",
    type=click.Path(path_type=Path, exists=True),
    help="Table of topics; subscriptions and events are then topics.",
)
@click.option(
    "--topic-column", metavar="COL", help="Column of the table of topics; path or topic if not given."
)
@click.option(
    "--topic-separator",
    metavar="TEXT",
    help="Text between the names of a path, such as '::'. Names that contain it are in quotes.",
)
@click.option("--implied-topics", is_flag=True, help="Add supertopics that the table does not list.")
@click.option("--key", metavar="COL", help="Column with the names of the subscribers, which are kept.")
@click.option(
    "--delimiter",
    metavar="CHAR",
    help="Character between values of CSV files; a comma by default, a tab for .tsv.",
)
@click.option(
    "--decimal", metavar="CHAR", default=".", show_default=True, help="Decimal point of numbers in CSV files."
)
@click.option(
    "--thousands",
    metavar="CHAR",
    default="",
    help="Thousands separator of numbers in CSV files: '.' in 1.000,5.",
)
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of CSV files.")
@click.option("--set-aside", is_flag=True, help="Write rows that cannot be used to DIR/rejected, and go on.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=0,
    show_default=True,
    help="Random seed of the ring IDs.",
)
@out_option
@overwrite_option
@json_option
def import_(
    subscriptions: Path,
    events: Path | None,
    columns: tuple[str, ...],
    event_columns: tuple[str, ...],
    types: tuple[str, ...],
    topics: Path | None,
    topic_column: str | None,
    topic_separator: str | None,
    implied_topics: bool,
    key: str | None,
    delimiter: str | None,
    decimal: str,
    thousands: str,
    encoding: str,
    set_aside: bool,
    seed: int,
    out: Path,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Make a workload folder of CSV, Parquet or Arrow files from elsewhere.

    \b
    sub2sub workload import orders.csv --column price=min_price,max_price --events trades.csv --out w
    sub2sub workload import readers.csv --topics tree.csv --column topic=section --out news
    sub2sub workload import abos.tsv --column preis=von,bis --decimal , --thousands . --key kunde --out w
    sub2sub workload import alarms.csv --column level=level --type level=enum:info,warning,error --out w
    """
    from workloads.folder.importing import import_topics, import_workload
    from workloads.folder.tables import TextForm

    form = TextForm(delimiter, decimal, thousands, encoding)

    on_bad: Literal["refuse", "set aside"] = "set aside" if set_aside else "refuse"
    if topics is not None:
        named = dict(_pairs(columns)), dict(_pairs(event_columns))
        if any(name != "topic" for pairs in named for name in pairs):
            raise InputError("--column: expected topic=COL with --topics")
        if types:
            raise InputError("--type: expected none with --topics")
        column, event_column = (pairs.get("topic", "topic") for pairs in named)
        workload = import_topics(
            topics, subscriptions, events, out,
            tree_column=topic_column, column=column, event_column=event_column, on_bad=on_bad, seed=seed,
            form=form, key=key, separator=topic_separator, implied=implied_topics, overwrite=overwrite,
        )  # fmt: skip
    else:
        workload = import_workload(
            subscriptions,
            events,
            out,
            columns={name: _ends(value) for name, value in _pairs(columns)} or None,
            event_columns=dict(_pairs(event_columns)),
            types={name: _type(name, value) for name, value in _pairs(types)},
            on_bad=on_bad,
            seed=seed,
            form=form,
            key=key,
            overwrite=overwrite,
        )
    if as_json:
        counts = {"subscriptions": workload.subscribers, "events": workload.events}
        print_json({"folder": out, **counts, "rejected": workload.manifest["rejected"]})
        return
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


def _type(name: str, value: str) -> ValueType | Kind:
    """Read a type from an option; an enum may be given with or without its values."""
    word, colon, values = value.partition(":")
    if word not in KINDS or (colon and word not in ("enum", "string")):
        raise InputError(f"--type {name}={value}: expected one of {', '.join(KINDS)}, or enum:A,B,C")
    return ValueType(word, tuple(values.split(","))) if colon else word


def _ends(value: str) -> str | tuple[str, str]:
    low, comma, high = value.partition(",")
    return (low, high) if comma else value
