"""Rerun figures and tables of the papers, the paper's value beside the measured one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sims.experiments.claims import Claim

__all__ = ["command"]


@click.command("reproduce")
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
def command(ids: tuple[str, ...], out: Path, quick: bool, seed: int, everything: bool, as_json: bool) -> None:
    """Rerun figures and tables of the papers: paper beside measured.

    Without IDS the experiments are listed. Each writes OUT/<id>/ with claims.json, <id>.png and Parquet
    tables.

    \b
    Examples:
      sub2sub reproduce sub2sub-fig5 camcast-table2 --quick
    """
    from sims.console import progress_bar
    from sims.experiments.registry import experiments, find

    if not ids and not everything:
        for experiment in experiments().values():
            click.echo(f"{experiment.id:24} {experiment.title}")
        return
    chosen = list(experiments().values()) if everything else [find(id) for id in ids]
    found = []
    for experiment in chosen:
        with progress_bar(experiment.id, quiet=as_json) as report:
            claims = experiment.reproduce(out, quick=quick, seed=seed, progress=report)
        found += claims
        if not as_json:
            _print(claims)
            click.echo(f"written to {out / experiment.id}\n")
    if as_json:
        click.echo(json.dumps([asdict(claim) for claim in found], default=lambda value: value.tolist()))


def _print(claims: list[Claim]) -> None:
    from sims.console import shown

    for claim in claims:
        mark = "holds" if claim.holds else "does NOT hold"
        click.echo(
            f"  {claim.claim}\n    paper {shown(claim.paper)} | measured {shown(claim.measured)} | {mark}"
        )
