"""An experiment in three parts: `measure` returns tables, `judge` claims, `draw` figures.

`judge` and `draw` are functions of the tables alone. So verdicts can be tested with any tables, and an
earlier run can be judged and drawn again without running it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pandas as pd

from sims.figures.style import captioned, styled
from sims.reproduce.claims import Claim, write_claims
from sims.runs.folder import RunFolder, RunWriter, is_run_folder
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[int, int], None]
"""Called as progress(done, total) while an experiment runs."""

Tables = Mapping[str, pd.DataFrame]
"""Measured tables by name."""

T = TypeVar("T")


@dataclass(frozen=True)
class Measured:
    """What an experiment measured.

    Attributes
    ----------
    tables : mapping of str to DataFrame
    scale : str
        How much was measured, as captions and verdicts state it: "1,000 peers, 1,000 events, 3 seeds".
    """

    tables: Tables
    scale: str


def measurement(scale: str, /, **tables: pd.DataFrame | list[Any]) -> Measured:
    """What an experiment measured; a table may be given as a list of its parts or of its rows.

    Examples
    --------
    >>> found = measurement("two runs", runs=[pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3]})])
    >>> found.tables["runs"].x.tolist()
    [1, 2, 3]
    """
    found = {}
    for name, table in tables.items():
        in_parts = isinstance(table, list) and any(isinstance(part, pd.DataFrame) for part in table)
        found[name] = pd.concat(table, ignore_index=True) if in_parts else pd.DataFrame(table)
    return Measured(found, scale)


Measure = Callable[[bool, int, Progress], Measured]
Judge = Callable[[Tables], Iterable[Claim]]
Figures: TypeAlias = "Mapping[str, Figure]"
Draw = Callable[[Tables], Figures]


@dataclass(frozen=True)
class Experiment:
    """One figure, table or statement of a paper.

    Attributes
    ----------
    id, title : str
    measure : callable
        measure(quick, seed, progress) runs it. Experiments that share a function share its measurement.
    judge : callable
        judge(tables) returns the claims.
    draw : callable
        draw(tables) returns figures by name, the experiment's own under "".
    """

    id: str
    title: str
    measure: Measure
    judge: Judge
    draw: Draw

    def reproduce(
        self,
        out: Path,
        *,
        quick: bool = False,
        seed: int = 1,
        progress: Progress | None = None,
        overwrite: bool = False,
        formats: Sequence[str] = ("png",),
    ) -> list[Claim]:
        """Run into `out/<id>/`, a run folder: claims, figures, tables and manifest.

        Raises
        ------
        InputError
            For a folder that has a run, unless `overwrite`; and always for a full run under a quick one.
        """
        folder = out / self.id
        replaced = RunFolder.open(folder).manifest if overwrite and is_run_folder(folder) else {}
        if quick and not replaced.get("quick", True):
            raise InputError(f"{folder}: has a full run, which a quick one does not replace: use --out")
        with RunWriter.create(folder, kind="reproduce", name=self.id, seed=seed, replace=overwrite) as writer:
            writer.manifest["quick"] = quick
            measured = _measured(self.measure, quick, seed, progress or no_progress)
            writer.manifest["scale"] = measured.scale
            for name, table in measured.tables.items():
                writer.write_table(name, {column: table[column].to_numpy() for column in table})
            return self._finish(writer, measured.tables, formats)

    def _finish(self, writer: RunWriter, tables: Tables, formats: Sequence[str]) -> list[Claim]:
        """Judge and draw, and write both."""
        scale = f"{writer.manifest['scale']}{' (quick form)' if writer.manifest['quick'] else ''}"
        claims = [replace(claim, id=self.id, scale=scale) for claim in self.judge(tables)]
        write_claims(writer.path, claims)
        with styled():
            for name, figure in self.draw(tables).items():
                captioned(figure, f"{scale}, first seed {writer.manifest['seed']}")
                writer.write_figure(f"{self.id}{'-' if name else ''}{name}", figure, formats)
        return claims


def judged_again(experiment: Experiment, out: Path, formats: Sequence[str] = ("png",)) -> list[Claim]:
    """Judge and draw an earlier run from its tables, without running it.

    Raises
    ------
    InputError
        For a folder without a finished run of this experiment.
    """
    folder = out / experiment.id
    run = RunFolder.open(folder)
    if run.manifest["state"] != "done" or "scale" not in run.manifest:
        raise InputError(f"{folder}: expected a finished run of {experiment.id}")
    tables = {name: run.table(name).to_pandas() for name in run.tables()}
    with RunWriter.reopen(folder) as writer:
        return experiment._finish(writer, tables, formats)


_shared: dict[tuple[Measure, bool, int], Measured] = {}


def _measured(measure: Measure, quick: bool, seed: int, progress: Progress) -> Measured:
    """Run, or use the result of another experiment with the same function in this process."""
    key = (measure, quick, seed)
    if key not in _shared:
        _shared.clear()  # one measurement at a time: some are large
        _shared[key] = measure(quick, seed, progress)
    progress(1, 1)
    return _shared[key]


REGISTERED: dict[str, Experiment] = {}


def register(id: str, title: str, measure: Measure, judge: Judge, draw: Draw) -> None:
    """Add an experiment.

    Raises
    ------
    ValueError
        For an id that another module has.
    """
    known = REGISTERED.get(id)
    if known and known.judge.__module__ != judge.__module__:
        raise ValueError(f"experiment {id!r} is registered in {known.judge.__module__} already")
    REGISTERED[id] = Experiment(id, title, measure, judge, draw)


def tracked(items: Iterable[T], progress: Progress) -> Iterator[T]:
    """The items, one after the other; progress is reported after each.

    Examples
    --------
    >>> for letter in tracked("ab", lambda done, total: print(done, "of", total)):
    ...     print(letter)
    a
    1 of 2
    b
    2 of 2
    """
    found = list(items)
    for done, item in enumerate(found, 1):
        yield item
        progress(done, len(found))


def no_progress(done: int, total: int) -> None:
    """Report nothing."""


def part(progress: Progress, number: int, parts: int) -> Progress:
    """The progress of one of several equally long parts, reported as that of the whole.

    Examples
    --------
    >>> part(lambda done, total: print(done, "of", total), 1, 2)(3, 10)
    13 of 20
    """
    return lambda done, total: progress(number * total + done, parts * total)
