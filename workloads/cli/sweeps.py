"""`sub2sub sweep`: a grid of settings times seeds."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import click

from workloads.cli.common import (
    Where,
    allow_option,
    json_option,
    out_option,
    print_json,
    progress_bars,
    quiet_option,
    where_options,
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@out_option
@allow_option
@click.option("--processes", type=click.IntRange(1), help="Runs at the same time.  [default: one per core]")
@where_options
@json_option
@quiet_option
def sweep(file: Path, out: Path, processes: int | None, where: Where, as_json: bool, quiet: bool) -> None:
    """Run a grid of settings times seeds, on all cores; runs that are done are skipped.

    \b
    sub2sub sweep sweep.toml --out results
    sub2sub sweep sweep.toml --out results --master spark://HOST:7077
    """
    from workloads.spark.tasks import cores_here
    from workloads.sweeps.sweep import sweep as run
    from workloads.sweeps.sweep_file import load_sweep

    plan = load_sweep(file)
    with ExitStack() as stack:
        spark = stack.enter_context(where.session())
        progress = stack.enter_context(progress_bars(quiet))
        table = run(plan, out, spark, progress, processes or cores_here())
    failed = [row for row in table.to_pylist() if row["error"] is not None]
    if as_json:
        print_json(table.to_pylist())
        raise SystemExit(1 if failed else 0)
    click.echo(f"{out}/results.parquet: {table.num_rows} runs, {len(failed)} failed")
    reasons = Counter(row["error"].splitlines()[0] for row in failed)
    for reason, count in reasons.most_common(5):
        click.echo(f"  {count} {'runs' if count > 1 else 'run'}: {reason}", err=True)
    if failed:
        raise SystemExit(1)
