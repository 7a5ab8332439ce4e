"""Rerun figures and tables of the papers, the paper's value beside the measured one."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sub2sub.errors import InputError

if TYPE_CHECKING:
    from sims.reproduce.claims import Claim
    from sims.reproduce.registry import Experiment

__all__ = ["command"]

# What the listing puts above the ids that begin so.
PAPERS = {
    "sub2sub": "Sub-2-Sub: content-based publish and subscribe",
    "cyclon": "CYCLON, beneath Sub-2-Sub",
    "camcast": "CAMCAST and Data-Aware Multicast",
    "hpmcast": "Hierarchical Probabilistic Multicast",
    "pmcast": "Hierarchical Probabilistic Multicast",
}


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sims.reproduce.registry import experiments

    found = experiments().values()
    return [CompletionItem(each.id, help=each.title) for each in found if each.id.startswith(incomplete)]


@click.command("reproduce")
@click.argument("ids", nargs=-1, shell_complete=_complete)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out"),
    show_default=True,
    help="Folder to write to.",
)
@click.option("--quick", is_flag=True, help="The smaller form, within about a minute.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--all", "everything", is_flag=True, help="Run every experiment.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print claims, or the list, as JSON and nothing else.")
def command(
    ids: tuple[str, ...], out: Path, quick: bool, seed: int, everything: bool, quiet: bool, as_json: bool
) -> None:
    """Rerun figures and tables of the papers: paper beside measured.

    Without IDS the experiments are listed. Each writes the run folder OUT/<id>/ with claims.json, <id>.png
    and Parquet tables. One that breaks does not keep the others from running; the exit code is then 1.

    \b
    Examples:
      sub2sub reproduce                                        list them
      sub2sub reproduce sub2sub-fig5 camcast-table2 --quick    two of them, in their small form
      sub2sub reproduce --all --quick --out quick              all of them
    """
    from sims.reproduce.registry import experiments, find

    if not ids and not everything:
        _list(list(experiments().values()), as_json)
        return
    chosen = list(experiments().values()) if everything else [find(id) for id in dict.fromkeys(ids)]
    found: list[Claim] = []
    broken: list[str] = []
    for number, experiment in enumerate(chosen, 1):
        claims = _reproduce(experiment, out, quick, seed, quiet or as_json, f"{number}/{len(chosen)} ")
        if claims is None:
            broken.append(experiment.id)
        else:
            found += claims
    if as_json:
        click.echo(json.dumps([asdict(claim) for claim in found], default=lambda value: value.tolist()))
    elif not quiet and len(chosen) > 1:
        held = sum(claim.holds for claim in found)
        click.echo(f"{held} of {len(found)} claims hold in {len(chosen) - len(broken)} experiments")
    if broken:
        click.echo(f"sub2sub: {len(broken)} of {len(chosen)} failed: {', '.join(broken)}", err=True)
        raise SystemExit(1)


def _list(known: Sequence[Experiment], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([{"id": each.id, "title": each.title} for each in known], indent=2))
        return
    grouped: dict[str, list[Experiment]] = {paper: [] for paper in PAPERS.values()}
    for each in known:
        grouped.setdefault(PAPERS.get(each.id.partition("-")[0], "Others"), []).append(each)
    for paper, members in grouped.items():
        click.echo(paper)
        for each in members:
            click.echo(f"  {each.id:22} {each.title}")


def _reproduce(
    experiment: Experiment, out: Path, quick: bool, seed: int, quiet: bool, count: str
) -> list[Claim] | None:
    """Run one and print its claims; None, and a line about it, if it breaks."""
    from sims.cli.console import progress_bar

    try:
        with progress_bar(f"{count}{experiment.id}", quiet=quiet) as report:
            claims = experiment.reproduce(out, quick=quick, seed=seed, progress=report)
    except InputError as error:
        click.echo(f"sub2sub: {experiment.id}: {error}", err=True)
        return None
    except Exception as error:  # a defect of one experiment: told in full, and the others go on
        traceback.print_exc()
        click.echo(f"sub2sub: {experiment.id}: {type(error).__name__}: {error}", err=True)
        return None
    if not quiet:
        _print(claims)
        click.echo(f"written to {out / experiment.id}\n")
    return claims


def _print(claims: list[Claim]) -> None:
    from sims.cli.console import shown

    for claim in claims:
        mark = "holds" if claim.holds else "does NOT hold"
        click.echo(
            f"  {claim.claim}\n    paper {shown(claim.paper)} | measured {shown(claim.measured)} | {mark}"
        )
