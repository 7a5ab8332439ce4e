"""`sub2sub`: one command line over everything.

Errors a user can cause are one line on standard error and exit code 2; an interrupted run exits with 130; a
claim that does not hold is a finding, not a failure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sub2sub.errors import InputError

if TYPE_CHECKING:
    from sims.experiments.claims import Claim

__all__ = ["main"]


class OneLine(click.Group):
    """A group whose commands print a user's mistake as one line."""

    def invoke(self, context: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(context)
        except InputError as error:
            click.echo(f"sub2sub: {error}", err=True)
            context.exit(2)
        except KeyboardInterrupt:
            click.echo("sub2sub: interrupted", err=True)
            context.exit(130)


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sub2sub")
def main() -> None:
    """Publish/subscribe overlays, simulated and compared.

    \b
    Examples:
      sub2sub reproduce                          list the experiments
      sub2sub reproduce sub2sub-fig5 --quick     a figure of a paper, in its small form
      sub2sub workload --help                    workloads on Spark
    """


@main.command()
@click.argument("ids", nargs=-1)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out"),
    show_default=True,
    help="Folder to write to.",
)
@click.option("--quick", is_flag=True, help="The smaller form, within about a minute.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--all", "everything", is_flag=True, help="Run every experiment.")
@click.option("--json", "as_json", is_flag=True, help="Print the claims as JSON, and nothing else.")
def reproduce(
    ids: tuple[str, ...], out: Path, quick: bool, seed: int, everything: bool, as_json: bool
) -> None:
    """Rerun figures and tables of the papers: paper beside measured.

    \b Without IDS the experiments are listed. Each writes OUT/<id>/ with claims.json, <id>.png and Parquet
    tables.
      sub2sub reproduce sub2sub-fig5 camcast-table2 --quick
    """
    from sims.experiments.registry import experiments, find

    if not ids and not everything:
        for experiment in experiments().values():
            click.echo(f"{experiment.id:24} {experiment.title}")
        return
    chosen = list(experiments().values()) if everything else [find(id) for id in ids]
    found = []
    for experiment in chosen:
        claims = experiment.reproduce(
            out, quick=quick, seed=seed, progress=None if as_json else _bar(experiment.id)
        )
        found += claims
        if not as_json:
            _print_claims(claims)
            click.echo(f"written to {out / experiment.id}\n")
    if as_json:
        from dataclasses import asdict

        click.echo(json.dumps([asdict(claim) for claim in found], default=lambda value: value.tolist()))


def _bar(title: str) -> Callable[[int, int], None] | None:
    """A progress callback that draws a bar on a terminal, and says little elsewhere."""
    if not sys.stderr.isatty():
        click.echo(f"{title} ...", err=True)
        return None
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title, total=None)
    bar.start()

    def report(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if done >= total:
            bar.stop()

    return report


def _print_claims(claims: list[Claim]) -> None:
    for claim in claims:
        mark = "holds" if claim.holds else "does NOT hold"
        click.echo(
            f"  {claim.claim}\n    paper {_short(claim.paper)} | measured {_short(claim.measured)} | {mark}"
        )


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(_short(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    return str(value)


def _mount() -> None:
    """Add the command groups that other packages own."""
    from workloads.cli import cli as workload
    from workloads.cli import sweep

    main.add_command(workload, "workload")
    main.add_command(sweep, "sweep")


_mount()

if __name__ == "__main__":
    main()
