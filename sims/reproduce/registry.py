"""All experiments by their id: what `sub2sub reproduce` lists and runs.

A module under `sims/reproduce/` registers its functions with `@experiment`; `experiments()` imports
those modules when it is first asked, so naming an id costs nothing until then.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sims.reproduce.claims import Claim, write_claims
from sims.runs.folder import RunWriter
from sub2sub.errors import InputError

__all__ = ["Experiment", "Progress", "Run", "experiment", "experiments", "find", "no_progress", "part"]

Progress = Callable[[int, int], None]
"""Called as progress(done, total) while an experiment runs."""

Run = Callable[[Path, bool, int, Progress], list[Claim]]

_registered: dict[str, Experiment] = {}


@dataclass(frozen=True)
class Experiment:
    """One figure or table: `function(folder, quick, seed, progress)` runs it and returns its claims."""

    id: str
    title: str
    function: Run

    def reproduce(
        self, out: Path, *, quick: bool = False, seed: int = 1, progress: Progress | None = None
    ) -> list[Claim]:
        """Run into `out/<id>/`, a run folder: claims, figure, tables and manifest."""
        with RunWriter.create(
            out / self.id, kind="reproduce", name=self.id, seed=seed, replace=True
        ) as writer:
            writer.manifest["quick"] = quick
            claims = self.function(writer.path, quick, seed, progress or no_progress)
            write_claims(writer.path, claims)
        return claims


def experiment(id: str, *, title: str) -> Callable[[Run], Run]:
    """Register a function as the experiment `id`.

    Examples
    --------
    >>> @experiment("doctest-only", title="Nothing")
    ... def run(out, quick, seed, progress):
    ...     return []
    >>> _registered.pop("doctest-only").title
    'Nothing'
    """

    def register(function: Run) -> Run:
        known = _registered.get(id)
        if known and known.function.__module__ != function.__module__:
            raise ValueError(f"experiment {id!r} is registered in {known.function.__module__} already")
        _registered[id] = Experiment(id, title, function)
        return function

    return register


def experiments() -> dict[str, Experiment]:
    """All experiments, by id, in the order of their modules."""
    _import_all()
    return dict(_registered)


def find(id: str) -> Experiment:
    """The experiment of that id; an unknown one is refused with the nearest known id."""
    known = experiments()
    if id not in known:
        near = difflib.get_close_matches(id, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        raise InputError(f"experiment: {id!r} is unknown; {hint}")
    return known[id]


def no_progress(done: int, total: int) -> None:
    """Report to nobody."""


def part(progress: Progress, number: int, parts: int) -> Progress:
    """The progress of one of several equally long parts, reported as that of the whole.

    Examples
    --------
    >>> part(lambda done, total: print(done, "of", total), 1, 2)(3, 10)
    13 of 20
    """
    return lambda done, total: progress(number * total + done, parts * total)


@cache
def _import_all() -> None:
    package = importlib.import_module("sims.reproduce")
    for module in pkgutil.walk_packages(package.__path__, "sims.reproduce."):
        importlib.import_module(module.name)
