"""Rerun figures and tables of the papers, and compare the measured values with the published ones."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sub2sub.errors import InputError
from workloads.cli.common import FILE, OUT_FOLDER, json_option, print_result

if TYPE_CHECKING:
    from sims.reproduce.claims import Claim
    from sims.reproduce.reproduction import Experiment, Progress

FORMATS = ("png", "svg", "pdf")


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sims.reproduce.registry import experiments

    found = experiments().values()
    return [CompletionItem(each.id, help=each.title) for each in found if each.id.startswith(incomplete)]


def _formats(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(word.strip() for word in value.split(",")))
    for word in chosen:
        if word not in FORMATS:
            raise click.BadParameter(f"expected one or several of {', '.join(FORMATS)}, got {word!r}")
    return chosen


@click.command("reproduce")
@click.argument("ids", nargs=-1, shell_complete=_complete)
@click.option(
    "--out", type=OUT_FOLDER, help="Folder to write to.  [default: out/full; out/quick with --quick]"
)
@click.option("--quick", is_flag=True, help="A smaller form, about a minute; its verdicts are marked.")
@click.option("--seed", type=click.IntRange(0), default=1, help="The first seed.")
@click.option("--all", "everything", is_flag=True, help="Run every experiment.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run of the same form.")
@click.option(
    "--again", is_flag=True, help="Evaluate and draw earlier runs again from their tables, without running."
)
@click.option(
    "--format",
    "formats",
    default="png",
    callback=_formats,
    help="Formats of figures: png, svg, pdf, with commas between them.",
)
@click.option("--page", type=FILE, help="Write a page of the runs in OUT, and run nothing.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@json_option
def command(
    ids: tuple[str, ...],
    out: Path | None,
    quick: bool,
    seed: int,
    everything: bool,
    overwrite: bool,
    again: bool,
    formats: tuple[str, ...],
    page: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Rerun figures and tables of the papers, and compare the measured values with the published ones.

    Without IDS the experiments are listed. Each writes a run folder OUT/<id>/ with claims.json, <id>.png and
    Parquet tables; an existing run is replaced only with --overwrite. If one fails, the others still run, and
    the exit code is 1.

    \b
    Examples:
      sub2sub reproduce                                        list them
      sub2sub reproduce sub2sub-fig5 camcast-table2 --quick    two of them, in their small form
      sub2sub reproduce --all --quick                          all of them, into out/quick
      sub2sub reproduce --page docs/reproductions.md           a page of what is in out/full
    """
    from sims.reproduce.registry import experiments, find
    from sims.reproduce.reproduction import judged_again

    folder = out or Path("out") / ("quick" if quick else "full")
    if page:
        _write_page(page, folder, quiet or as_json)
        return
    if not ids and not everything:
        _list(as_json)
        return
    chosen = list(experiments().values()) if everything else [find(id) for id in dict.fromkeys(ids)]

    def run(experiment: Experiment, progress: Progress) -> list[Claim]:
        if again:
            return judged_again(experiment, folder, formats)
        return experiment.reproduce(
            folder, quick=quick, seed=seed, progress=progress, overwrite=overwrite, formats=formats
        )

    found: list[Claim] = []
    broken: list[str] = []
    for number, experiment in enumerate(chosen, 1):
        claims = _reproduce(experiment, run, quiet or as_json, f"{number}/{len(chosen)} ")
        if claims is None:
            broken.append(experiment.id)
            continue
        found += claims
        if not quiet and not as_json:
            _print(claims)
            click.echo(f"written to {folder / experiment.id}\n")
    if as_json:
        click.echo(json.dumps([asdict(claim) for claim in found]))
    elif not quiet and len(chosen) > 1:
        click.echo(f"{_counted(found)}, in {len(chosen) - len(broken)} experiments")
    if broken:
        click.echo(f"sub2sub: {len(broken)} of {len(chosen)} failed: {', '.join(broken)}", err=True)
        raise SystemExit(1)


def _counted(claims: Sequence[Claim]) -> str:
    verdicts = [claim.verdict for claim in claims]
    held, failed = verdicts.count("holds"), verdicts.count("does not hold")
    return f"{held} claims hold, {failed} do not, {verdicts.count('observation')} observations"


def _write_page(page: Path, folder: Path, quiet: bool) -> None:
    from sims.reproduce.reproductions_page import write_page

    runs = write_page(page, folder)
    if not quiet:
        click.echo(f"{page}: {runs} experiments from {folder}")


def _list(as_json: bool) -> None:
    from sims.reproduce.registry import by_paper

    facts, lines = [], []
    for paper, members in by_paper().items():
        facts += [{"id": each.id, "title": each.title} for each in members]
        lines += [paper, *(f"  {each.id:22} {each.title}" for each in members)]
    print_result(as_json, facts, *lines)


def _reproduce(
    experiment: Experiment, run: Callable[[Experiment, Progress], list[Claim]], quiet: bool, count: str
) -> list[Claim] | None:
    """Run one experiment; print a line and return None if it fails."""
    from sims.cli.console import progress_bar

    try:
        with progress_bar(f"{count}{experiment.id}", quiet=quiet) as report:
            return run(experiment, report)
    except InputError as error:
        click.echo(f"sub2sub: {experiment.id}: {error}", err=True)
    except Exception as error:  # a defect of one experiment is printed in full, and the others still run
        traceback.print_exc()
        click.echo(f"sub2sub: {experiment.id}: {type(error).__name__}: {error}", err=True)
    return None


def _print(claims: list[Claim]) -> None:
    from sims.cli.console import shown

    for claim in claims:
        reading = f" [{claim.reading}]" if claim.reading else ""
        interval = f" ({shown(claim.interval)})" if claim.interval is not None else ""
        verdict = {"does not hold": "does NOT hold"}.get(claim.verdict, claim.verdict)
        click.echo(
            f"  {claim.claim}{reading}\n    {'bound' if claim.is_ours else 'paper'} {shown(claim.paper)} | "
            f"measured {shown(claim.measured)}{interval} | {verdict} at {claim.scale}"
        )
