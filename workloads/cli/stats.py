"""`sub2sub stats` and `sub2sub workload stats`: statistics of a workload, runs or a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sub2sub.errors import InputError
from workloads.cli import common


@click.command()
@click.argument("sources", nargs=-1, required=True, type=common.Address(exists=True))
@click.option(
    "--out", type=common.OUT_FOLDER, metavar="DIR",
    help="Folder to write to.  [default: statistics/ in the folder described; ./statistics for several]",
)  # fmt: skip
@click.option("--peers", type=click.IntRange(0), default=100, help="Number of peers in the sample.")
@click.option(
    "--regions-mb", type=click.IntRange(0), default=256, metavar="MB",
    help="Memory for the minimal regions S_m; 0 to leave them out.",
)  # fmt: skip
@click.option("--by", multiple=True, metavar="KEY", help="Setting by which runs are grouped.")
@common.where_options
@common.json_option
@common.quiet_option
def stats(
    sources: tuple[str, ...],
    out: Path | None,
    peers: int,
    regions_mb: int,
    by: tuple[str, ...],
    where: common.Where,
    as_json: bool,
    quiet: bool,
) -> None:
    """Describe a workload, or the results of many runs, with confidence intervals.

    SOURCES are one workload folder; run folders, or folders of them; or one sweep's folder. Tables, figures
    and statistics.md go to DIR. Workloads are described on Spark, runs in this process.

    \b
    sub2sub stats w
    sub2sub stats runs/ --by population.size
    sub2sub stats sweep-out
    """
    from workloads.files.manifest import read_manifest

    first, paths = Path(sources[0]), [Path(source) for source in sources]
    is_workload = common.is_elsewhere(sources[0]) or (first / "subscriptions").is_dir()
    inside = len(sources) == 1 and first.is_dir()
    out = out or (first / "statistics" if inside else Path("statistics"))
    if is_workload:
        if len(sources) > 1 or by:
            raise InputError("stats: expected one workload folder, without --by")
        from workloads.frames.saved import Saved
        from workloads.statistics.workload import write_statistics

        with where.started(f"statistics of {sources[0]}", quiet or as_json) as spark:
            write_statistics(Saved(spark, sources[0]), out, peers, regions_mb)
    else:
        from workloads.statistics.runs import write_run_statistics, write_sweep_statistics

        if where.asked:
            raise InputError(f"{sources[0]}: expected a workload with options of Spark; runs are read here")
        if inside and (read_manifest(first) or {}).get("kind") == "sweep":
            write_sweep_statistics(first, out)
        else:
            write_run_statistics(paths, out, by)
    if as_json:
        common.print_json(_tables(out))
        return
    click.echo((out / "statistics.md").read_text(encoding="utf-8"))
    click.echo(f"{out}: tables, figures, statistics.md")


def _tables(out: Path) -> dict[str, list[dict[str, Any]]]:
    """The tables that were written, as rows."""
    from workloads.files.checked import read_parquet

    return {file.stem: read_parquet(file).to_pylist() for file in sorted(out.glob("*.parquet"))}
