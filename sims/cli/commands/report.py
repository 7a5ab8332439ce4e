"""Make one HTML page of runs, reproductions and comparisons."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from workloads.cli.common import OUT_FILE, PLACE, NumberRange, json_option, print_json


@click.command("report")
@click.argument("folders", nargs=-1, required=True, type=PLACE, metavar="FOLDER...")
@click.option(
    "--out",
    type=OUT_FILE,
    metavar="FILE.html",
    help="Page to write.  [default: report.html in the first FOLDER]",
)
@click.option("--title", help="Title of the page.")
@click.option(
    "--megabytes",
    type=NumberRange(min=0.1),
    default=8.0,
    help="Size limit of interactive overlays; recorded cycles beyond it are left out.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
@json_option
def command(
    folders: tuple[Path, ...],
    out: Path | None,
    title: str | None,
    megabytes: float,
    show: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make one page of all results in FOLDERs: curves, claims, settings, and interactive overlays.

    A FOLDER was written by `sub2sub run`, `reproduce`, `compare`, `sweep` or `stats`, or contains such
    folders. The page is a single HTML file that needs no network.

    \b
    Examples:
      sub2sub report runs/sub2sub-fig5 --open
      sub2sub report runs/a runs/b --out a-and-b.html     curves of both in the same charts
      sub2sub report out --title "All reproductions"
    """
    from sims.report.report import report

    page = report(folders, title, megabytes)
    for problem in page.problems:
        click.echo(f"left out: {problem}", err=True)
    path = page.write(out or folders[0] / "report.html")
    if as_json:
        print_json({"page": path, "bytes": path.stat().st_size})
    elif not quiet:
        click.echo(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if show:
        webbrowser.open(path.resolve().as_uri())
