"""Rerun figures and tables of the papers, and compare the measured values with the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sub2sub.errors import InputError
from workloads.cli.common import FILE, OUT_FOLDER, Where, json_option, print_json, print_result, where_options

if TYPE_CHECKING:
    from sims.reproduce.claims import Claim
    from sims.reproduce.reproduction import Reproduction

FORMATS = ("png", "svg", "pdf")


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sims.reproduce.registry import titles

    return [CompletionItem(id, help=title) for id, title in titles().items() if id.startswith(incomplete)]


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
@click.option("--all", "everything", is_flag=True, help="Run all of them.")
@click.option("--resume", is_flag=True, help="Keep what is finished, and continue the rest.")
@click.option("--overwrite", is_flag=True, help="Replace earlier runs of the same form.")
@click.option(
    "--processes",
    type=click.IntRange(1),
    help="Units at the same time.  [default: 1; one per core with --all]",
)
@where_options
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
@click.option("--page", type=FILE, help="Write pages of the runs in OUT, and run nothing.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@json_option
def command(
    ids: tuple[str, ...],
    out: Path | None,
    quick: bool,
    seed: int,
    everything: bool,
    resume: bool,
    overwrite: bool,
    processes: int | None,
    where: Where,
    again: bool,
    formats: tuple[str, ...],
    page: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Rerun figures and tables of the papers, and compare the measured values with the published ones.

    Without IDS the reproductions are listed. Each writes a run folder OUT/<id>/ with claims.json, <id>.png
    and Parquet tables; an existing run is replaced only with --overwrite. What is run is cut into units,
    whose results in OUT/units/ are not computed again. If a unit fails, the others still run, and the exit
    code is 1.

    \b
    Examples:
      sub2sub reproduce                                        list them
      sub2sub reproduce sub2sub-fig5 camcast-table2 --quick    two of them, in their small form
      sub2sub reproduce --all --quick                          all of them, into out/quick, on all cores
      sub2sub reproduce --all --resume                         continue after an interruption
      sub2sub reproduce --page docs/reproductions.md           pages of what is in out/full
    """
    from sims.reproduce.registry import files, find
    from sims.reproduce.reproduction import reproduce

    folder = out or Path("out") / ("quick" if quick else "full")
    quiet = quiet or as_json
    if page:
        _write_pages(page, folder, quiet)
        return
    if not ids and not everything:
        _list(as_json)
        return
    if resume and overwrite:
        raise InputError("--resume and --overwrite: expected one or the other")
    chosen = [find(id) for id in (files() if everything else dict.fromkeys(ids))]
    if again:
        found = {each.id: _again(each, folder, formats) for each in chosen}
    else:
        from sims.cli.console import progress_bar
        from workloads.files.environment import cores

        names = chosen[0].id if len(chosen) == 1 else f"{len(chosen)} reproductions"
        with where.session() as spark, progress_bar(names, "units", quiet=quiet) as report:
            found = reproduce(
                chosen, folder, quick=quick, seed=seed, resume=resume, overwrite=overwrite, formats=formats,
                processes=processes or (cores() if everything else 1), spark=spark, progress=report,
            )  # fmt: skip
    claims = {id: own for id, own in found.items() if not isinstance(own, str)}
    every = [claim for own in claims.values() for claim in own]
    if as_json:
        print_json([asdict(claim) for claim in every])
    elif not quiet:
        for id, own in claims.items():
            _print(own)
            click.echo(f"written to {folder / id}\n")
        if len(chosen) > 1:
            click.echo(f"{_counted(every)}, in {len(claims)} reproductions")
    broken = {id: reason for id, reason in found.items() if isinstance(reason, str)}
    for id, reason in broken.items():
        click.echo(f"sub2sub: {id}: {reason}", err=True)
    if broken:
        click.echo(f"sub2sub: {len(broken)} of {len(chosen)} failed: {', '.join(broken)}", err=True)
        raise SystemExit(1)


def _again(reproduction: Reproduction, folder: Path, formats: Sequence[str]) -> list[Claim] | str:
    try:
        return reproduction.again(folder, formats)
    except InputError as error:
        return str(error)


def _counted(claims: Sequence[Claim]) -> str:
    verdicts = [claim.verdict for claim in claims]
    held, failed = verdicts.count("holds"), verdicts.count("does not hold")
    return f"{held} claims hold, {failed} do not, {verdicts.count('observation')} observations"


def _write_pages(page: Path, folder: Path, quiet: bool) -> None:
    from sims.reproduce.reproductions_page import write_pages

    found = write_pages(page, folder)
    if not quiet:
        click.echo(f"{page}: {found} reproductions, runs from {folder}")


def _list(as_json: bool) -> None:
    from sims.reproduce.registry import PAPERS, by_paper, titles

    lines, known = [], titles()
    for room, ids in by_paper().items():
        lines += [PAPERS[room], *(f"  {id:22} {known[id]}" for id in ids)]
    print_result(as_json, [{"id": id, "title": title} for id, title in known.items()], *lines)


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
