"""`sub2sub stats` and `sub2sub workload stats`: statistics of a workload, runs, a sweep or tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sub2sub.errors import InputError
from workloads.cli import common


@click.command()
@click.argument("sources", nargs=-1, required=True, type=common.Place(exists=True))
@click.option(
    "--out", type=common.Place(), metavar="DIR",
    help="Folder to write to.  [default: statistics/ in the folder described; ./statistics for several]",
)  # fmt: skip
@click.option("--peers", type=click.IntRange(0), default=100, help="Number of peers in the sample.")
@click.option(
    "--regions-mb", type=click.IntRange(0), default=256, metavar="MB",
    help="Memory for the minimal regions S_m; 0 to leave them out.",
)  # fmt: skip
@click.option(
    "--by", multiple=True, metavar="KEY",
    help="Setting by which runs are grouped, or column by which tables are.",
)  # fmt: skip
@click.option("--metric", multiple=True, metavar="COLUMN", help="Column of tables to average.")
@common.where_options
@common.json_option
@common.quiet_option
def stats(
    sources: tuple[Path, ...],
    out: Path | None,
    peers: int,
    regions_mb: int,
    by: tuple[str, ...],
    metric: tuple[str, ...],
    where: common.Where,
    as_json: bool,
    quiet: bool,
) -> None:
    """Describe a workload, or the results of many runs, with confidence intervals.

    SOURCES are one workload folder; run folders, or folders of them; one sweep's folder; or, with --metric,
    Parquet tables of which each is a run. Tables, figures and statistics.md go to DIR. Computed in this
    process, or on Spark when asked for it or when the tables fill a quarter of the memory.

    \b
    sub2sub stats w
    sub2sub stats runs/ --by population.size
    sub2sub stats sweep-out
    sub2sub stats runs/*/rings.parquet --by cycle --metric complete
    """
    from workloads.files.manifest import read_manifest

    is_folder = sources[0].is_dir()
    out = out or (sources[0] / "statistics" if len(sources) == 1 and is_folder else Path("statistics"))
    manifest = (read_manifest(sources[0]) if is_folder else None) or {}
    if manifest.get("kind") == "workload" and not metric:
        if len(sources) > 1 or by:
            raise InputError("stats: expected one workload folder, without --by")
        _describe_workload(sources[0], out, peers, regions_mb, where)
    else:
        from workloads.statistics.runs import (
            write_run_statistics,
            write_sweep_statistics,
            write_table_statistics,
        )

        with where.session(_bytes_in(sources)) as spark, common.progress_bars(quiet or as_json) as progress:
            if metric:
                write_table_statistics(spark, sources, by, metric, out)
            elif manifest.get("kind") == "sweep" and len(sources) == 1:
                write_sweep_statistics(sources[0], out)
            else:
                write_run_statistics(spark, sources, out, by, progress)
    if as_json:
        common.print_json(_tables(out))
        return
    click.echo((out / "statistics.md").read_text(encoding="utf-8"))
    click.echo(f"{out}: tables, figures, statistics.md")


def _bytes_in(sources: Sequence[Path]) -> int:
    """Total size of the Parquet files in these folders, and of the files among `sources`."""
    tables = (table for path in sources for table in (path.rglob("*.parquet") if path.is_dir() else [path]))
    return sum(table.stat().st_size for table in tables)


def _tables(out: Path) -> dict[str, list[dict[str, Any]]]:
    """The tables that were written, as rows."""
    from workloads.files.checked import read_parquet

    return {file.stem: read_parquet(file).to_pylist() for file in sorted(out.glob("*.parquet"))}


def _describe_workload(folder: Path, out: Path, peers: int, regions_mb: int, where: common.Where) -> None:
    from workloads.folder.layout import open_workload
    from workloads.match.tiles import ring_sizes
    from workloads.statistics.workload import write_statistics

    workload = open_workload(folder)
    if workload.events:
        ring_sizes(workload)  # raises if there are no matches, before Spark is started
    with where.session() as spark:
        write_statistics(workload, out, spark, peers, regions_mb)
