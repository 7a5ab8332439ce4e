"""`sub2sub workload stats`: a workload, many runs, a sweep or any tables, described."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from sub2sub.errors import InputError
from workloads.cli.common import Place, Where, progress_bars, quiet_option, where_options

__all__ = ["stats"]


@click.command()
@click.argument("sources", nargs=-1, required=True, type=Place(exists=True))
@click.option(
    "--out",
    type=Place(),
    metavar="DIR",
    help="Default: statistics/ in the folder described; ./statistics for several.",
)
@click.option("--peers", type=click.IntRange(0), default=100, show_default=True, help="Sample of peers.")
@click.option(
    "--regions-mb",
    type=click.IntRange(0),
    default=256,
    show_default=True,
    metavar="MB",
    help="Find regions S_m that fit into this; 0: do not.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="KEY",
    help="Of runs: a setting that separates groups; of tables: a column.",
)
@click.option("--metric", multiple=True, metavar="COLUMN", help="Of tables: average this column.")
@where_options()
@quiet_option
def stats(
    sources: tuple[Path, ...],
    out: Path | None,
    peers: int,
    regions_mb: int,
    by: tuple[str, ...],
    metric: tuple[str, ...],
    where: Where,
    quiet: bool,
) -> None:
    """Describe a workload, or what many runs came to, with confidence intervals.

    SOURCES are one workload folder; run folders, or folders of them; one sweep's folder; or, with --metric,
    Parquet tables of which each is a run. Tables, figures and statistics.md go to DIR.

    \b
    sub2sub workload stats w
    sub2sub workload stats runs/ --by population.size
    sub2sub workload stats sweep-out
    sub2sub workload stats out/*/rounds.parquet --by cycle --metric rounds
    """
    from workloads.files.manifest import read_manifest

    out = out or (
        sources[0] / "statistics" if len(sources) == 1 and sources[0].is_dir() else Path("statistics")
    )
    manifest = read_manifest(sources[0]) or {}
    if "attributes" in manifest and not metric:
        if len(sources) > 1 or by:
            raise InputError("stats: expected one workload folder, without --by")
        _describe_workload(sources[0], out, peers, regions_mb, where)
    else:
        from workloads.statistics.runs import (
            write_run_statistics,
            write_sweep_statistics,
            write_table_statistics,
        )

        if where.spark is False:
            raise InputError("--no-spark: statistics over runs are computed on Spark")
        with ExitStack() as stack:
            spark = stack.enter_context(replace(where, spark=True).session())
            progress = stack.enter_context(progress_bars(quiet))
            assert spark is not None
            if metric:
                write_table_statistics(spark, sources, by, metric, out)
            elif manifest.get("kind") == "sweep" and len(sources) == 1:
                write_sweep_statistics(spark, sources[0], out)
            else:
                write_run_statistics(spark, sources, out, by, progress)
    click.echo((out / "statistics.md").read_text(encoding="utf-8"))
    click.echo(f"{out}: tables, figures, statistics.md")


def _describe_workload(folder: Path, out: Path, peers: int, regions_mb: int, where: Where) -> None:
    from workloads.folder.layout import open_workload
    from workloads.match.tiles import ring_sizes
    from workloads.statistics.workload import write_statistics

    workload = open_workload(folder)
    # Asked for before Spark is started, so that a workload without matches is refused at once.
    matches = int(ring_sizes(workload).sum()) if workload.events else 0
    with where.session(16 * matches if (folder / "rings").exists() else 0) as spark:
        write_statistics(workload, out, spark, peers, regions_mb)
