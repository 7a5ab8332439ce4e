"""`sub2sub workload ...` and `sub2sub sweep ...`, for the command line of `sims` to mount."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import click

from workloads.cli import common
from workloads.cli.own_tables import OwnTable, table_options
from workloads.cli.stats import stats


@click.group("workload")
def cli() -> None:
    """Generate, import, match and describe workloads.

    \b
    sub2sub workload generate --spec power-law-3 --subscribers 10000 --events 10000 --out w
    sub2sub workload match w
    sub2sub workload stats w
    """


cli.add_command(stats)


@cli.command()
@click.option("--spec", required=True, metavar="FILE|NAME", help="A .toml file, uniform-D or power-law-D.")
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
@common.workload_option
@common.overwrite_option
@common.where_options
@common.json_option
@common.quiet_option
def generate(
    spec: str, subscribers: int, events: int, at_least: int, cycles: int, seed: int, out: str,
    overwrite: bool, where: common.Where, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write subscriptions and events to DIR as Parquet, the same rows wherever Spark runs.

    \b
    sub2sub workload generate --spec uniform-2 --subscribers 1000 --events 100 --out w
    sub2sub workload generate --spec stocks.toml --subscribers 100000000 --out s3a://bucket/big --master spark://HOST:7077
    sub2sub workload generate --spec news.toml --subscribers 1000 --cycles 200 --out churning
    """
    from workloads.frames.saved import Saved
    from workloads.frames.saved import generate as write
    from workloads.spec.catalogue import resolve

    resolved, file = resolve(spec), Path(spec)
    with where.started(f"{subscribers} subscriptions, {events} events", quiet) as spark:
        saved = Saved(spark, out)
        saved.begin(overwrite)
        source = file.read_text(encoding="utf-8") if file.suffix == ".toml" else spec
        write(saved, resolved, subscribers, events, seed, at_least, cycles, source)
    facts = {"folder": out, "workload": resolved.name, "subscriptions": subscribers, "events": events}
    line = f"{out}: {subscribers} subscriptions, {events} events of {resolved.name}"
    common.print_result(as_json, facts, line)


@cli.command()
@click.argument("folder", type=common.Address(exists=True))
@click.option("--rings", is_flag=True, help="List every ring too, not only its length.")
@common.where_options
@common.json_option
@common.quiet_option
def match(folder: str, rings: bool, where: common.Where, as_json: bool, quiet: bool) -> None:
    """Find each event's matching subscribers: their number in DIR/matches, the rings in DIR/rings."""
    from workloads import frames
    from workloads.frames.saved import Saved

    with where.started(f"matches of {folder}", quiet) as spark:
        saved = Saved(spark, folder)
        subscriptions = saved.require("subscriptions", "sub2sub workload generate")
        events = saved.require("events", "sub2sub workload generate --events M")
        counts = saved.write("matches", frames.match_counts(subscriptions, events))
        if rings:
            saved.write("rings", frames.rings(subscriptions, events))
        found = counts.selectExpr("count(*)", "min(matches)", "max(matches)", "avg(matches)").first()
    count, least, greatest, mean = found or (0, 0, 0, 0.0)
    facts = {"least": least, "greatest": greatest, "mean": mean}
    line = f"{folder}: {count} events, rings of {least} to {greatest}, mean {mean:.1f}"
    common.print_result(as_json, {"folder": folder, "events": count, "rings": facts}, line)


@cli.command("import")
@click.argument("subscriptions")
@table_options
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
@click.option("--id", metavar="COL", help="Column of whole numbers that tells subscribers apart.")
@click.option("--event-id", metavar="COL", help="Column of whole numbers that tells events apart.")
@click.option(
    "--tolerance", type=common.NumberRange(0, min_open=True), default=0.1,
    help="Area that the boxes of a geofence may cover besides, as a share of its own.",
)  # fmt: skip
@click.option("--boxes", type=click.IntRange(1), default=16, help="Boxes of a geofence, at most.")
@click.option("--set-aside", is_flag=True, help="Write rows that cannot be used to DIR/rejected, and go on.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="Random seed of the ring IDs.")
@common.workload_option
@common.overwrite_option
@common.where_options
@common.json_option
@common.quiet_option
def import_(
    subscriptions: str, own: OwnTable, topics: Path | None, topic_column: str | None,
    topic_separator: str | None, implied_topics: bool, id: str | None, event_id: str | None, tolerance: float,
    boxes: int, set_aside: bool, seed: int, out: str, overwrite: bool, where: common.Where, as_json: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Make a workload folder of CSV, Parquet or Arrow files, a catalog's tables, or geofences (GeoJSON).

    \b
    sub2sub workload import orders.csv --column price=min_price,max_price --event-table trades.csv --out w
    sub2sub workload import readers.csv --topics tree.csv --column topic=section --out news
    sub2sub workload import abos.tsv --column preis=von,bis --decimal , --thousands . --key kunde --out w
    sub2sub workload import catalog.sales.alarms --type level=enum:info,warning,error --out s3a://bucket/w
    sub2sub workload import zones.geojson --key name --event-table places.csv --out zones
    """
    from workloads.folder.pieces import refuse
    from workloads.folder.topic_tables import read_tree
    from workloads.frames.generate import topic_rows
    from workloads.frames.own import checked, checked_topics
    from workloads.frames.saved import Saved
    from workloads.frames.sources import checked_fences, geofences, opened

    lines: list[str] = []
    with where.started(f"import of {subscriptions}", quiet) as spark:
        saved = Saved(spark, out)
        saved.begin(overwrite)
        events = opened(spark, own.events, own.form) if own.events else None
        paths = None
        if subscriptions.endswith((".geojson", ".json")):
            fences = geofences(spark, subscriptions, own.key)
            found, sentence = checked_fences(fences, events, own.event_columns, tolerance, boxes, seed=seed)
            lines.append(f"{out}: {sentence}")
        elif topics is not None:
            tree, against = read_tree(
                topics, topic_column, form=own.form, separator=topic_separator, implied=implied_topics
            )
            refuse("topics", {} if set_aside else against)
            lines += [f"{topics}, row {row}: {why}" for row, why in sorted(against.items())]
            paths, found = checked_topics(
                tree, opened(spark, subscriptions, own.form), events, seed, **own.topic_columns(),
                separator=topic_separator, key=own.key,
            )  # fmt: skip
        else:
            found = checked(
                opened(spark, subscriptions, own.form), events, own.columns, own.event_columns, own.types,
                key=own.key, id=id, event_id=event_id, form=own.form, seed=seed,
                called=(subscriptions, own.events or "events"),
            )  # fmt: skip
        counts, more = saved.keep(found, set_aside)
        if paths is not None:
            saved.write("topics", topic_rows(spark, paths))
    lines = [f"{out}: {counts['subscriptions']} subscriptions, {counts['events']} events", *lines, *more]
    common.print_result(as_json, {"folder": out, **counts}, *lines)


@click.command()
@click.argument("file", type=common.EXISTING_FILE)
@common.out_option
@common.allow_option
@click.option("--processes", type=click.IntRange(1), help="Runs at the same time.  [default: one per core]")
@common.where_options
@common.json_option
@common.quiet_option
def sweep(
    file: Path, out: Path, processes: int | None, where: common.Where, as_json: bool, quiet: bool
) -> None:
    """Run a grid of settings times seeds, on all cores; runs that are done are skipped.

    \b
    sub2sub sweep sweep.toml --out results
    sub2sub sweep sweep.toml --out results --master spark://HOST:7077
    """
    from workloads.files.environment import cores
    from workloads.sweeps.sweep import sweep as run
    from workloads.sweeps.sweep_file import load_sweep

    plan = load_sweep(file)
    with where.session() as spark, common.progress_bars(quiet) as progress:
        report = partial(progress, "runs") if progress else None
        table = run(plan, out, spark, report, processes or cores())
    failed = [row for row in table.to_pylist() if row["error"] is not None]
    line = f"{out}/results.parquet: {table.num_rows} runs, {len(failed)} failed"
    common.print_result(as_json, table.to_pylist(), line)
    reasons = Counter(row["error"].splitlines()[0] for row in failed)
    for reason, count in reasons.most_common(0 if as_json else 5):
        click.echo(f"  {count} {'runs' if count > 1 else 'run'}: {reason}", err=True)
    if failed:
        raise SystemExit(1)
