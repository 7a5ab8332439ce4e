"""Topics or ranges for my table: which costs less, in one sentence, within two minutes."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import click

from workloads.cli.common import EXISTING_FILE, OUT_FOLDER, json_option, print_json
from workloads.cli.own_tables import OwnTable, table_options


@click.command()
@click.argument("data", type=EXISTING_FILE)
@click.option(
    "--events", "published", metavar="FILE", help="Table of events; drawn from the interests if none."
)
@click.option(
    "--rate", default="1/s", show_default=True, help="How often events are published: 5/s, 100/min."
)
@click.option(
    "--subscribers", type=click.IntRange(10), default=200, show_default=True,
    help="Rows of the table that are drawn at random.",
)  # fmt: skip
@click.option(
    "--publish", type=click.IntRange(10), default=1000, show_default=True, help="Events to publish."
)
@click.option("--seed", type=click.IntRange(0), default=1, help="The first of two seeds.")
@click.option("--out", type=OUT_FOLDER, default=Path("out/advice"), help="Folder to write to.")
@table_options
@json_option
def command(
    data: Path,
    published: str | None,
    rate: str,
    subscribers: int,
    publish: int,
    seed: int,
    out: Path,
    own: OwnTable,
    as_json: bool,
) -> None:
    """Topics or ranges for my table: which costs less, in one sentence, within two minutes.

    \b
    DATA has a row for each subscriber: two columns for each range, a column for each exact value or topic.
    What was inferred is printed first; --column, --event-column and --type say it otherwise.
      sub2sub advise orders.csv --events trades.csv --rate 5/s
    """
    from sims.advice.advise import able
    from sims.advice.columns import infer
    from sims.cli.console import per_second, progress_bar
    from sims.compare.compare import compare
    from sims.compare.network import network_named, network_text
    from sims.compare.plan import Plan
    from sims.compare.worlds.ranges import fitting_bits
    from sims.report.report import report
    from sims.runs.folder import RunWriter

    frequency = per_second(rate)
    found = infer(data, None if published is None else Path(published))
    inferred = not own.columns
    if not inferred:
        own = replace(own, events=own.events or published)
    else:
        own = replace(found.own, types=own.types, form=own.form)
    described = own.described(data)
    world = f"ranges {described} bits={fitting_bits(str(described), subscribers, seed)}"
    plan = Plan(
        (world,), subscribers, publish, seeds=2, seconds=25.0, seed=seed, choosing=250, only=able(world),
        network=network_text(network_named("log-normal")), brief=True,
    )  # fmt: skip
    plan.check()
    if inferred:
        click.echo("\n".join(found.lines), err=as_json)
    if own.events is None:
        click.echo("events: none are given, they are drawn from the interests", err=as_json)
    with (
        RunWriter.create(out, kind="compare", name="advice", seed=seed, replace=True) as writer,
        progress_bar(f"{len(plan.units())} units", "units", quiet=as_json) as progress,
    ):
        shutil.copy(described, out / "data.toml")
        sentences, numbers = compare(plan, writer, os.cpu_count() or 1, None, progress, frequency)
    report([out]).write(out / "index.html")
    if as_json:
        print_json({"inferred": found.lines, "findings": sentences, "systems": numbers})
        return
    click.echo(sentences[-1])
    click.echo(f"written to {out}: costs in headline.md, a page in index.html, the experiment with its table")
