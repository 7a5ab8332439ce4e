"""Run an experiment from a TOML file into a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sub2sub.errors import InputError
from workloads.cli.common import (
    EXISTING_FILE,
    OUT_FOLDER,
    allow_option,
    json_option,
    print_json,
    print_result,
)
from workloads.cli.own_tables import OwnTable, table_options

if TYPE_CHECKING:
    from sims.config.experiment import Experiment
    from sims.runs.runner import Ended


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sims.config.shipped import shipped

    known = {name: title for name, title in shipped().items() if name.startswith(incomplete)}
    names = [CompletionItem(name, help=title) for name, title in known.items()]
    return [*names, CompletionItem(incomplete, type="file")]


@click.command("run")
@click.argument("source", metavar="[FILE|NAME|FOLDER]", required=False, shell_complete=_complete)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a setting, such as layers.ring.cap=20.",
)
@click.option("--table", type=EXISTING_FILE, help="Subscriptions: a table of your own, every row of it.")
@table_options
@click.option("--out", type=OUT_FOLDER, metavar="DIR", help="Folder to write to.  [default: runs/NAME]")
@click.option("--seed", type=click.IntRange(0), help="Run with this seed instead of those in the file.")
@click.option("--resume", is_flag=True, help="Resume an interrupted run, or extend a finished one.")
@click.option("--overwrite", is_flag=True, help="Replace a run that exists.")
@allow_option
@click.option(
    "--show", is_flag=True, help="Print the experiment, every default written out, and run nothing."
)
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
@json_option
def command(
    source: str | None,
    changes: tuple[str, ...],
    table: Path | None,
    own: OwnTable,
    out: Path | None,
    seed: int | None,
    resume: bool,
    overwrite: bool,
    show: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run an experiment: a TOML FILE, the NAME of one that comes with the package, or a run FOLDER to resume.

    Without an argument the experiments that come with the package are listed. A run with several seeds has a
    folder for each, DIR/seed-N. On Ctrl-C the run writes a checkpoint after the current cycle, and exits with
    130.

    \b
    Examples:
      sub2sub run                                                  list the experiments
      sub2sub run sub2sub-fig5 --set population.size=1000 --out r  a smaller one, into r/
      sub2sub run mine.toml --seed 7 --set layers.ring.exchanges=2
      sub2sub run sub2sub-fig5 --table orders.csv --column price=min_price,max_price
      sub2sub run r --resume                                       resume the run in r/
      sub2sub run r --resume --set cycles=80                       extend a finished run
      sub2sub run sub2sub-fig5 --show > mine.toml                  a file to start from
    """
    if source is None:
        _list(as_json)
        return
    from sims.config.experiment import load_experiment

    if resume and overwrite:
        raise InputError("--resume and --overwrite: expected one or the other")
    file, out, name = _find(source, out, resume)
    experiment = load_experiment(file, (*own.changes(table), *changes))
    if seed is not None:
        experiment = replace(experiment, seeds=(seed,))
    if show:
        click.echo(experiment.to_toml(), nl=False)
        return
    how = {"resume": resume, "overwrite": overwrite}
    ended = _run_all(experiment, out, name, how, quiet or as_json)
    if as_json:
        facts = [{"folder": str(e.folder), "seed": e.seed, "seconds": e.seconds, **e.numbers} for e in ended]
        print_json(facts)
    elif not quiet:
        _summarise(ended)


def _find(source: str, out: Path | None, resume: bool) -> tuple[Path, Path, str]:
    """The file of an experiment, the folder to write to, and the name of the run."""
    from sims.config.shipped import find_file, shipped
    from sims.runs.folder import SETTINGS

    folder = Path(source)
    # `run demo` runs the experiment even if there is a folder demo/, unless that is to be resumed.
    if (folder / SETTINGS).is_file() and (source not in shipped() or (resume and out is None)):
        if not resume:
            raise InputError(f"{source} is a run folder: expected --resume, or a file or name to run")
        return folder / SETTINGS, folder, folder.resolve().name
    file = find_file(source)
    name = source if source in shipped() else file.stem
    return file, out or Path("runs") / name, name


def _list(as_json: bool) -> None:
    from sims.config.shipped import shipped

    print_result(as_json, shipped(), *(f"{name:24} {title}" for name, title in shipped().items()))


def _run_all(
    experiment: Experiment, out: Path, name: str, how: Mapping[str, bool], quiet: bool
) -> list[Ended]:
    from sims.cli.console import progress_bar
    from sims.runs.folder import SETTINGS
    from sims.runs.runner import run_experiment
    from workloads.files.atomic import write_text

    if len(experiment.seeds) > 1:  # so that `--resume` also runs the seeds that have not begun
        write_text(out / SETTINGS, experiment.to_toml())
    ended = []
    for seed in experiment.seeds:
        place = out if len(experiment.seeds) == 1 else out / f"seed-{seed}"
        size = experiment.population.size or 10_000
        with progress_bar(f"{name}, seed {seed}", "peers", size, quiet) as report:
            ended.append(run_experiment(experiment, seed, place, name=name, progress=report, **how))
    return ended


def _summarise(ended: list[Ended]) -> None:
    from sims.cli.console import shown

    for each in ended:
        click.echo(f"{each.folder}: seed {each.seed}, {each.seconds:.1f} s")
        for name, value in each.numbers.items():
            never = name == "complete_since_cycle" and value < 0
            click.echo(f"  {name.replace('_', ' '):32} {'never' if never else shown(value)}")
