"""`sub2sub sweep`: a grid of settings times seeds."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import click

from workloads.cli import common
from workloads.cli.common import Where


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@common.out_option
@common.allow_option
@click.option("--processes", type=click.IntRange(1), help="Runs at the same time.  [default: one per core]")
@common.where_options
@common.json_option
@common.quiet_option
def sweep(file: Path, out: Path, processes: int | None, where: Where, as_json: bool, quiet: bool) -> None:
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
