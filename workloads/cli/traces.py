"""`sub2sub workload topics` and `sub2sub workload churn`: topics and traces from options alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sub2sub.errors import InputError
from workloads.cli.common import json_option, out_option, print_json, seed_option
from workloads.files.atomic import atomic_write
from workloads.files.checked import write_parquet

if TYPE_CHECKING:
    import pyarrow as pa


def _write(path: Path, table: pa.Table) -> None:

    with atomic_write(path) as draft:
        write_parquet(table, draft)


@click.command()
@click.option("--fanout", metavar="K,K,...", help="Subtopics of a topic at each depth: a regular tree.")
@click.option(
    "--topics", "count", type=click.IntRange(1), metavar="T", help="A random tree of T topics instead."
)
@click.option(
    "--max-depth",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Greatest depth of a random tree.",
)
@click.option(
    "--exponent",
    type=float,
    default=1.0,
    show_default=True,
    help="Exponent of the Zipf law of subscribers over topics; 0 for equal shares.",
)
@click.option(
    "--depth-bias",
    type=float,
    default=1.0,
    show_default=True,
    help="Factor on a topic's share per level of depth; above 1, special topics are preferred.",
)
@click.option(
    "--event-exponent",
    type=float,
    default=0.0,
    show_default=True,
    help="Exponent of the Zipf law of events over topics.",
)
@click.option(
    "--subscribers", type=click.IntRange(0), required=True, metavar="N", help="Number of subscribers."
)
@click.option(
    "--events", type=click.IntRange(0), default=0, show_default=True, metavar="M", help="Number of events."
)
@seed_option
@out_option
@json_option
def topics(
    fanout: str | None,
    count: int | None,
    max_depth: int,
    exponent: float,
    depth_bias: float,
    event_exponent: float,
    subscribers: int,
    events: int,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Write a workload of topics to DIR, as `generate` does for a spec with a table `topics`.

    \b
    sub2sub workload topics --fanout 10,10,5 --subscribers 10000 --events 1000 --out topics
    sub2sub workload topics --topics 1000 --depth-bias 1.5 --subscribers 10000 --out topics
    """
    from workloads.generate.generate import generate
    from workloads.spec.topic_files import topic_workload

    if (fanout is None) == (count is None):
        raise InputError("topics: expected either --fanout or --topics")
    tree: dict[str, object] = {"count": count, "max_depth": max_depth, "tree_seed": seed}
    if fanout is not None:
        tree = {"fanout": _numbers(fanout)}
    law = {"exponent": exponent, "depth_bias": depth_bias, "event_exponent": event_exponent}
    spec = topic_workload({"name": "topics", "topics": tree | law})
    generate(spec, subscribers, events, seed, out, at_least=0)
    if as_json:
        counts = {"topics": len(spec.topics.topics), "subscriptions": subscribers, "events": events}
        print_json({"folder": out, **counts})
        return
    click.echo(f"{out}: {len(spec.topics.topics)} topics, {subscribers} subscriptions, {events} events")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--fanout = {text!r}: expected whole numbers with commas between them") from None


@click.command()
@click.option(
    "--subscribers", type=click.IntRange(0), required=True, metavar="N", help="Number of subscribers."
)
@click.option("--cycles", type=click.IntRange(0), required=True, metavar="C", help="Length of the trace.")
@click.option("--session", type=float, required=True, help="Mean number of cycles that a subscriber stays.")
@click.option(
    "--absence", type=float, required=True, help="Mean number of cycles that a subscriber stays away."
)
@click.option(
    "--lengths",
    type=click.Choice(["exponential", "pareto"]),
    default="exponential",
    show_default=True,
    help="Distribution of these lengths.",
)
@click.option(
    "--alpha",
    type=float,
    default=2.0,
    show_default=True,
    help="Tail of Pareto lengths, above 1; smaller is heavier.",
)
@click.option(
    "--change",
    type=float,
    default=0.0,
    show_default=True,
    help="Probability that a subscriber changes its subscription, per cycle.",
)
@seed_option
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE",
    help="Parquet file to write.",
)  # fmt: skip
@json_option
def churn(
    subscribers: int,
    cycles: int,
    session: float,
    absence: float,
    lengths: str,
    alpha: float,
    change: float,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Write a trace of churn (joins, leaves, changed subscriptions) as Parquet: cycle, subscriber, kind.

    Subscribers that are there from the start have a row of kind `start` at cycle 0.

    \b
    sub2sub workload churn --subscribers 10000 --cycles 200 --session 50 --absence 10 --out churn.parquet
    """
    from workloads.folder.churn_table import churn_table
    from workloads.generate.churn import Churn

    settings = Churn(session, absence, lengths, alpha, change)  # type: ignore[arg-type]
    table = churn_table(settings, subscribers, cycles, seed)
    _write(out, table)
    there = table["kind"].to_pylist().count("start")
    moves = table.num_rows - there
    if as_json:
        print_json({"file": out, "subscribers": subscribers, "start": there, "changes": moves})
        return
    click.echo(f"{out}: {there} of {subscribers} up at the start, {moves} changes of state")
