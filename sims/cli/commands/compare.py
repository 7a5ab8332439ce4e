"""Compare topics and ranges: what each system costs on the same interests, events and faults."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sub2sub.errors import InputError
from workloads.cli.common import (
    EXISTING_FILE,
    OUT_FOLDER,
    NumberRange,
    Where,
    allow_option,
    json_option,
    print_json,
    where_options,
)
from workloads.cli.own_tables import OwnTable, table_options

if TYPE_CHECKING:
    from sims.compare.worlds import Rule


@click.command()
@click.argument("mine", required=False, type=EXISTING_FILE)
@click.option(
    "--world", type=click.Choice(["usual", "topics", "ranges", "between", "all"]),
    help="Which interests: topics, ranges of one and of three attributes, the family between, or all of "
    "these; usual are topics and ranges of one attribute.  [default: usual; all with --quick]",
)  # fmt: skip
@click.option(
    "--subscribers",
    type=click.IntRange(2),
    help="Subscribers in each world.  [default: 10000; 500 with --quick]",
)
@click.option("--events", type=click.IntRange(1), default=20, help="Events published in each cell and seed.")
@click.option(
    "--choosing", type=click.IntRange(0), default=0, show_default=False, metavar="N",
    help="Events of each seed by which working points are chosen.  [default: 1000 over all seeds]",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(1), default=3, help="Number of seeds over which cells are averaged."
)
@click.option(
    "--tree", type=click.Path(),
    help="Topics: a file with a path such as .a.b per line; or a workload folder of topics, or a .toml file "
    "with [table.topics], whose rows are the subscribers.",
)  # fmt: skip
@click.option(
    "--topic-separator", metavar="TEXT", help="What stands between the names in --tree, such as '::'."
)
@click.option("--implied-topics", is_flag=True, help="Add supertopics that --tree does not list.")
@click.option(
    "--workload", "workloads", multiple=True, metavar="NAME|DIR|FILE",
    help="Ranges: uniform-D, power-law-D, a .toml spec, a workload folder, a table (.csv, .parquet), or a "
    ".toml file with [table]. Every row of these is a subscriber, unless --subscribers says how many.",
)  # fmt: skip
@click.option(
    "--bits", type=click.IntRange(1, 20), default=10,
    help="Ranges are rounded outward to 2^BITS values per attribute; what that adds is printed.",
)  # fmt: skip
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="MODULE:CLASS",
    help="A system of your own that takes part, too.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Compare only this system; may be repeated.")
@click.option(
    "--network", default="log-normal", metavar="MODEL|FILE",
    help="How long messages take: constant, uniform, log-normal, sphere, a .toml file with settings of "
    "[network], or hops to count hops only.",
)  # fmt: skip
@click.option(
    "--fault", "faults", multiple=True, metavar="LOSS,CRASHED",
    help="A system is shown with a setting that delivers under all of these faults, shares of messages lost "
    "and of subscribers down; may be repeated.  [default: 0.05,0 and 0,0.1]",
)  # fmt: skip
@click.option("--deliver", default=0.99, show_default=True, metavar="SHARE", help="What it has to deliver.")
@click.option(
    "--budget", default=2000.0, show_default=True, metavar="MS",
    help="Until when the last subscriber has the median event; 0 for any time.",
)  # fmt: skip
@click.option(
    "--cost", default="bytes_per_delivery", show_default=True, metavar="METRIC",
    help="Of which such a setting takes least, for example messages_per_delivery or last_ms_median.",
)  # fmt: skip
@click.option(
    "--rate", metavar="RATE",
    help="Also publish a stream of events, such as 5/s, that share the uplinks of all hosts; for up to about "
    "1,000 subscribers.",
)  # fmt: skip
@allow_option
@click.option("--seed", type=click.IntRange(0), default=1, help="The first of the seeds.")
@click.option("--quick", is_flag=True, help="The smaller form: two to three minutes of processor time.")
@click.option(
    "--out", type=OUT_FOLDER, default=Path("out/compare"),
    help="Folder to write to; one that exists is continued.",
)  # fmt: skip
@click.option("--processes", type=click.IntRange(1), help="Units at the same time.  [default: one per core]")
@table_options
@where_options
@click.option(
    "--time-limit", type=NumberRange(0, min_open=True), default=300.0, help="Seconds a unit may take."
)
@click.option("--quiet", is_flag=True, help="Print the findings only.")
@click.option("--headline", is_flag=True, help="Print a short table in Markdown, and nothing else.")
@json_option
def command(
    mine: Path | None,
    world: str | None,
    subscribers: int | None,
    events: int,
    choosing: int,
    seeds: int,
    tree: str | None,
    topic_separator: str | None,
    implied_topics: bool,
    workloads: tuple[str, ...],
    bits: int,
    systems: tuple[str, ...],
    only: tuple[str, ...],
    network: str,
    faults: tuple[str, ...],
    deliver: float,
    budget: float,
    cost: str,
    rate: str | None,
    seed: int,
    quick: bool,
    out: Path,
    processes: int | None,
    where: Where,
    own: OwnTable,
    time_limit: float,
    quiet: bool,
    headline: bool,
    as_json: bool,
) -> None:
    """What a topic costs, what a range costs: every system on the same interests, events and faults.

    \b
    MINE is a TOML file with variants of your own, [[variants]] with name, system, layers, dissemination and
    knobs. Writes OUT/ with compare.parquet, figures, headline.md and index.html. How each cost is counted and
    what each system knows: docs/compare.md.
      sub2sub compare --quick
      sub2sub compare --quick --seed 7 --json
      sub2sub compare --world ranges --workload uniform-2 --workload prices.parquet
      sub2sub compare --world ranges --workload orders.csv --column price=min_price,max_price
    """
    from sims.cli.console import per_second, progress_bar
    from sims.compare.compare import compare
    from sims.compare.network import network_named, network_text
    from sims.compare.plan import Plan, worlds_of
    from sims.compare.worlds.ranges import BITS
    from sims.report.report import report
    from sims.runs.folder import RunWriter
    from sims.runs.memory import refuse_too_large_systems
    from workloads.folder.tables import is_table

    size = subscribers if subscribers is not None else 500 if quick else 10_000
    options = "" if bits == BITS else f" bits={bits}"
    options += " rows=all" if subscribers is None else ""
    workloads = tuple(str(own.described(Path(name))) if is_table(Path(name)) else name for name in workloads)
    if topic_separator is not None and (not topic_separator or " " in topic_separator):
        raise InputError(f"--topic-separator: expected text without spaces, got {topic_separator!r}")
    if tree:
        tree += f" separator={topic_separator}" if topic_separator else ""
        tree += " implied=topics" if implied_topics else ""
    elif topic_separator or implied_topics:
        raise InputError("--topic-separator, --implied-topics: expected with --tree, whose names they read")
    worlds = tuple(worlds_of(world or ("all" if quick else "usual"), tree, workloads, quick, options))
    plan = Plan(
        worlds, size, events, seeds=seeds, seconds=time_limit, seed=seed, choosing=choosing,
        own=(*systems, *(_variants(mine) if mine else ())),
        network=network_text(network_named(network)), only=only,
        rule=_rule(faults, deliver, budget, cost).text(), rate=per_second(rate) if rate else 0.0,
    )  # fmt: skip
    if not where.asked:
        refuse_too_large_systems({unit.system for unit in plan.units()}, size)
    plan.check()
    with (
        RunWriter.create(out, kind="compare", name="compare", seed=seed, replace=True) as writer,
        where.session() as spark,
        progress_bar(f"{len(plan.units())} units", "units", quiet=quiet or as_json or headline) as progress,
    ):
        workers = processes or os.cpu_count() or 1
        sentences, numbers = compare(plan, writer, workers, spark, progress, plan.rate or 1.0)
    report([out]).write(out / "index.html")
    if as_json:
        print_json({"findings": sentences, "systems": numbers})
        return
    if headline:
        click.echo((out / "headline.md").read_text(), nl=False)
        return
    for sentence in sentences:
        click.echo(sentence)
    if not quiet:
        click.echo(f"written to {out}: costs of all systems in headline.md, charts in index.html")


def _variants(file: Path) -> list[str]:
    """The variants that a user's file describes, as text for units."""
    from workloads.settings.documents import Document

    found = Document.open(file, []).data.get("variants", [])
    if not found or any({"name", "system"} - each.keys() for each in found):
        raise InputError(f"{file}: expected [[variants]], each with name and system")
    return [json.dumps(each, sort_keys=True) for each in found]


def _rule(faults: tuple[str, ...], deliver: float, budget: float, cost: str) -> Rule:
    """The rule that the options describe."""
    from sims.compare.worlds import Fault, Rule

    try:
        pairs = tuple(Fault(*map(float, fault.split(","))) for fault in faults)
    except (TypeError, ValueError):
        raise InputError(f"--fault: expected two shares such as 0.05,0, got {', '.join(faults)}") from None
    return Rule(pairs or Rule.faults, deliver, budget, cost)
