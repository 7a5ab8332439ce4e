"""`sub2sub workload topics` and `sub2sub workload churn`: topics and traces from options alone."""

from __future__ import annotations

from pathlib import Path

import click

from sub2sub.errors import InputError
from workloads.cli import common


@click.command()
@click.option("--fanout", metavar="K,K,...", help="Subtopics of a topic at each depth: a regular tree.")
@click.option(
    "--topics", "count", type=click.IntRange(1), metavar="T", help="A random tree of T topics instead."
)
@click.option("--max-depth", type=click.IntRange(1), default=8, help="Greatest depth of a random tree.")
@click.option(
    "--exponent", type=float, default=1.0,
    help="Exponent of the Zipf law of subscribers over topics; 0 for equal shares.",
)  # fmt: skip
@click.option(
    "--depth-bias", type=float, default=1.0,
    help="Factor on a topic's share per level of depth; above 1, special topics are preferred.",
)  # fmt: skip
@click.option(
    "--event-exponent", type=float, default=0.0, help="Exponent of the Zipf law of events over topics."
)
@common.subscribers_option
@common.events_option
@common.seed_option
@common.out_option
@common.json_option
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
    from workloads.spec.files import from_dict

    if (fanout is None) == (count is None):
        raise InputError("topics: expected either --fanout or --topics")
    tree: dict[str, object] = {"count": count, "max_depth": max_depth, "tree_seed": seed}
    if fanout is not None:
        tree = {"fanout": common.numbers(fanout, "--fanout", int, "whole numbers with commas between them")}
    law = {"exponent": exponent, "depth_bias": depth_bias, "event_exponent": event_exponent}
    spec = from_dict({"name": "topics", "topics": tree | law})
    workload = generate(spec, subscribers, events, seed, out, at_least=0)
    counts = {"topics": workload.manifest["topics"], "subscriptions": subscribers, "events": events}
    text = ", ".join(f"{count} {what}" for what, count in counts.items())
    common.print_result(as_json, {"folder": out, **counts}, f"{out}: {text}")


@click.command()
@common.subscribers_option
@click.option("--cycles", type=click.IntRange(0), required=True, metavar="C", help="Length of the trace.")
@click.option("--session", type=float, required=True, help="Mean number of cycles that a subscriber stays.")
@click.option(
    "--absence", type=float, required=True, help="Mean number of cycles that a subscriber stays away."
)
@click.option(
    "--lengths", type=click.Choice(["exponential", "pareto"]), default="exponential",
    help="Distribution of these lengths.",
)  # fmt: skip
@click.option("--alpha", type=float, default=2.0, help="Tail of Pareto lengths, above 1; smaller is heavier.")
@click.option(
    "--change", type=float, default=0.0,
    help="Probability that a subscriber changes its subscription, per cycle.",
)  # fmt: skip
@common.seed_option
@click.option("--out", type=common.FILE, required=True, metavar="FILE", help="Parquet file to write.")
@common.json_option
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
    from workloads.files.atomic import atomic_write
    from workloads.files.checked import write_parquet
    from workloads.folder.churn_table import churn_table
    from workloads.generate.churn import Churn

    settings = Churn(session, absence, lengths, alpha, change)  # type: ignore[arg-type]
    table = churn_table(settings, subscribers, cycles, seed)
    with atomic_write(out) as draft:
        write_parquet(table, draft)
    there = table["kind"].to_pylist().count("start")
    moves = table.num_rows - there
    facts = {"file": out, "subscribers": subscribers, "start": there, "changes": moves}
    line = f"{out}: {there} of {subscribers} up at the start, {moves} changes of state"
    common.print_result(as_json, facts, line)
