"""`sub2sub workload ...` and `sub2sub sweep ...`, for the command line of `sims` to mount."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from sub2sub.errors import InputError
from workloads.cli import common
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
@common.json_option
def list_names(as_json: bool) -> None:
    """List the workloads that have a name."""
    from workloads.spec.catalogue import NAMES

    common.print_result(as_json, list(NAMES), *NAMES)


@cli.command()
@click.argument("spec")
@common.always_json_option
def show(spec: str) -> None:
    """Print a workload, given by name or as a .toml file, as JSON with all its settings."""
    from workloads.spec.files import resolve, to_dict

    click.echo(json.dumps(to_dict(resolve(spec)), indent=2))


@cli.command()
@click.option("--spec", required=True, metavar="FILE|NAME", help="A .toml file or a name; see `list`.")
@common.subscribers_option
@common.events_option
@click.option(
    "--at-least", type=click.IntRange(0), default=2, help="Least number of subscribers that match an event."
)
@click.option(
    "--cycles", type=click.IntRange(0), default=0, metavar="C",
    help="Cycles of the churn trace, for a spec with churn.",
)  # fmt: skip
@common.seed_option
@click.option("--partitions", type=click.IntRange(1), help="Spark tasks to share the files among.")
@common.out_option
@common.overwrite_option
@common.where_options
@common.json_option
@common.quiet_option
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
    where: common.Where,
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
    with where.session() as spark, common.progress_bars(quiet) as progress:
        write(
            resolved, subscribers, events, seed, out,
            at_least=at_least, cycles=cycles, spark=spark, partitions=partitions, progress=progress,
            overwrite=overwrite,
        )  # fmt: skip
    facts = {"folder": out, "workload": resolved.name, "subscriptions": subscribers, "events": events}
    line = f"{out}: {subscribers} subscriptions, {events} events of {resolved.name}"
    common.print_result(as_json, facts, line)


@cli.command()
@click.argument("folder", type=common.Place(exists=True))
@click.option("--rings", is_flag=True, help="List every ring too, not only its length.")
@common.where_options
@common.json_option
@common.quiet_option
def match(folder: Path, rings: bool, where: common.Where, as_json: bool, quiet: bool) -> None:
    """Find each event's matching subscribers: their number in DIR/matches, the rings in DIR/rings."""
    from workloads.folder.layout import open_workload
    from workloads.match.rings import list_rings
    from workloads.match.tiles import count_rings, ring_sizes

    workload = open_workload(folder)
    with where.session() as spark, common.progress_bars(quiet) as progress:
        count_rings(workload, spark, progress)
        if rings:
            list_rings(workload, spark, progress)
    sizes = ring_sizes(workload)
    facts, spread = {}, "no events"
    if len(sizes):
        facts = {"least": int(sizes.min()), "greatest": int(sizes.max()), "mean": float(sizes.mean())}
        spread = f"rings of {sizes.min()} to {sizes.max()}, mean {sizes.mean():.1f}"
    line = f"{folder}: {len(sizes)} events, {spread}"
    common.print_result(as_json, {"folder": folder, "events": len(sizes), "rings": facts}, line)


@cli.command("import")
@click.argument("subscriptions", type=common.TABLE)
@click.option("--events", type=common.TABLE, help="Table of events.")
@click.option(
    "--column", "columns", multiple=True, metavar="X=LOW,HIGH",
    help="Columns with the range of attribute X, or X=COL for exact values.",
)  # fmt: skip
@click.option(
    "--event-column", "event_columns", multiple=True, metavar="X=COL",
    help="Column of attribute X in the table of events.",
)  # fmt: skip
@click.option(
    "--type", "types", multiple=True, metavar="X=TYPE",
    help="Type of attribute X: float, int, bool, string, timestamp, date, enum, enum:A,B,C; guessed from its "
    "columns if not given.",
)  # fmt: skip
@click.option(
    "--topics", type=common.TABLE, help="Table of topics; subscriptions and events are then topics."
)
@click.option(
    "--topic-column", metavar="COL", help="Column of the table of topics; path or topic if not given."
)
@click.option(
    "--topic-separator", metavar="TEXT",
    help="Text between the names of a path, such as '::'. Names that contain it are in quotes.",
)  # fmt: skip
@click.option("--implied-topics", is_flag=True, help="Add supertopics that the table does not list.")
@click.option("--key", metavar="COL", help="Column with the names of the subscribers, which are kept.")
@click.option(
    "--delimiter", metavar="CHAR",
    help="Character between values of CSV files; a comma by default, a tab for .tsv.",
)  # fmt: skip
@click.option("--decimal", metavar="CHAR", default=".", help="Decimal point of numbers in CSV files.")
@click.option(
    "--thousands", metavar="CHAR", default="", show_default=False,
    help="Thousands separator of numbers in CSV files: '.' in 1.000,5.",
)  # fmt: skip
@click.option("--encoding", default="utf-8", help="Encoding of CSV files.")
@click.option("--set-aside", is_flag=True, help="Write rows that cannot be used to DIR/rejected, and go on.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, help="Random seed of the ring IDs.")
@common.out_option
@common.overwrite_option
@common.json_option
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
    delimiter: str | None,
    decimal: str,
    thousands: str,
    encoding: str,
    set_aside: bool,
    out: Path,
    as_json: bool,
    **settings: Any,  # key, seed, overwrite
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

    settings["form"] = TextForm(delimiter, decimal, thousands, encoding)
    settings["on_bad"] = "set aside" if set_aside else "refuse"
    if topics is not None:
        named = dict(_pairs(columns)), dict(_pairs(event_columns))
        if any(name != "topic" for pairs in named for name in pairs):
            raise InputError("--column: expected topic=COL with --topics")
        if types:
            raise InputError("--type: expected none with --topics")
        column, event_column = (pairs.get("topic", "topic") for pairs in named)
        workload = import_topics(
            topics, subscriptions, events, out, tree_column=topic_column, column=column,
            event_column=event_column, separator=topic_separator, implied=implied_topics, **settings,
        )  # fmt: skip
    else:
        workload = import_workload(
            subscriptions, events, out,
            columns={name: _ends(value) for name, value in _pairs(columns)} or None,
            event_columns=dict(_pairs(event_columns)),
            types={name: _type(name, value) for name, value in _pairs(types)},
            **settings,
        )  # fmt: skip
    counts = {"subscriptions": workload.subscribers, "events": workload.events}
    rejected = workload.manifest["rejected"]
    lines = [f"{out}: {workload.subscribers} subscriptions, {workload.events} events"]
    lines += [f"{out}/rejected/{kind}.csv: {n} rows that could not be used" for kind, n in rejected.items()]
    common.print_result(as_json, {"folder": out, **counts, "rejected": rejected}, *lines)


def _pairs(options: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for option in options:
        name, equals, value = option.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option!r}: expected ATTRIBUTE=COLUMN")
        if name in dict(pairs):
            raise InputError(f"{option!r}: expected each attribute once, {name!r} is given twice")
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
