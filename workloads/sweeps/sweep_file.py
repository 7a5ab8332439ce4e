"""Reads the file of a sweep, and checks its settings against the experiment before anything runs."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sub2sub.errors import InputError
from workloads.files.checked import file_digest
from workloads.files.manifest import MANIFEST
from workloads.settings.alternatives import either
from workloads.settings.documents import Document, changed_setting
from workloads.settings.models import table, value_type
from workloads.settings.plugins import plugin
from workloads.settings.toml import Key, is_given, leaves, split_key
from workloads.settings.values import FileOrName
from workloads.sweeps.sweep import Sweep

_MOST_SEEDS = 1_000_000
_EXPERIMENTS = "sims.runs.sweeping"  # imported by name, because this package may not depend on `sims`


@dataclass(frozen=True)
class SweepFile:
    """A grid of settings times seeds.

    Attributes
    ----------
    experiment : str
        An experiment of `sub2sub run`: a name, or the path of a .toml file.
    run : str
        Instead of an experiment: "module:function", from a dict of settings to a dict of results.
    seeds : int or list of int
        The number of seeds, from 0 on, or a list of seeds.
    settings : table
        Settings that are the same in every run, by their keys in the experiment.
    grid : table
        Settings that vary, each with a list of values: every combination is a run.
    """

    experiment: FileOrName | None = None
    run: str | None = None
    seeds: Any = 1
    settings: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)

    def sweep(self, folder: Path) -> Sweep:
        """The sweep; `folder` is the one of the file."""
        if (self.experiment is None) == (self.run is None):
            raise InputError("expected either experiment = 'FILE.toml' or run = 'module:function'")
        if isinstance(self.seeds, int) and not 0 <= self.seeds <= _MOST_SEEDS:
            raise InputError(f"seeds: expected 1 to {_MOST_SEEDS} of them, got {self.seeds}")
        seeds = list(range(self.seeds)) if isinstance(self.seeds, int) else list(self.seeds)
        if self.run is not None:
            # Raises without the user's consent. Of our own functions only `run` needs none: others, such as
            # `sims.cli.app:main` with a key "--allow", could run any code.
            plugin(self.run, "run", ours=self.run == f"{_EXPERIMENTS}:run")
            return Sweep(self.run, self.grid, seeds, self.settings)
        settings, grid = dict(leaves(self.settings)), dict(leaves(self.grid))
        values, own = [*settings.values(), *grid.values()], []
        if str(self.experiment).endswith(".toml"):
            own = [Path(str(self.experiment))]
            try:
                values += [value for _, value in leaves(Document.open(own[0]).data)]
            except InputError as failure:
                raise InputError(f"experiment: {failure}") from None
        own += _named_files(values, (own[0].parent if own else folder, Path()))
        content = file_digest(*own) if own else ""
        return Sweep(f"{_EXPERIMENTS}:run", grid, seeds, {"experiment": self.experiment, **settings}, content)


_COUNT, _LIST = value_type(int), value_type(tuple[int, ...])


def _kind_of_seeds(data: Any) -> Any:
    if isinstance(data, list):
        return _LIST
    return _COUNT if type(data) is int else "a number of seeds, or a list of them"


SWEEP = table(
    SweepFile,
    name="sweep",
    hints={"seeds": either(_kind_of_seeds, _COUNT, _LIST)},
    make=lambda values, given, context: SweepFile(**values).sweep(context["folder"]),
)
"""The type of a sweep's file, for `workloads.settings`."""


def load_sweep(path: Path) -> Sweep:
    """The sweep that a TOML file describes; its settings of the experiment are checked too."""
    document = Document.open(path)
    plan: Sweep = document.read(SWEEP)
    if plan.run == f"{_EXPERIMENTS}:run":
        _check_settings(plan, document)
    return plan


def _check_settings(plan: Sweep, document: Document) -> None:
    """Refuse settings that the experiment refuses: the first values together, then each other value."""
    check = importlib.import_module(_EXPERIMENTS).check
    tables = {each: document.data.get(each, {}) for each in ("settings", "grid")}
    places = {
        name: document.place(_written(each, name, data))
        for each, data in tables.items()
        for name, _ in leaves(data)
    }
    first = {**plan.settings, **{name: values[0] for name, values in plan.grid.items()}}
    others = [{**first, name: value} for name, values in plan.grid.items() for value in values[1:]]
    lines: dict[str, None] = {}
    for settings in (first, *others):
        experiment = settings.pop("experiment", None)
        made = [changed_setting(name, value, places.get(name)) for name, value in settings.items()]
        try:
            check(experiment, made)
        except InputError as failure:
            lines |= dict.fromkeys(str(failure).splitlines())
    if lines:
        source = document.place(("experiment",) if "experiment" in document.data else ("settings",))
        raise InputError("\n".join(f"{source}: {x}" if x.startswith("experiment: ") else x for x in lines))


def _written(table: str, name: str, data: Mapping[str, Any]) -> Key:
    """The key of a setting in the file, where its dotted name is one quoted key or a key of nested tables."""
    key = split_key(name)
    return (table, *key) if is_given(data, key) else (table, name)


def _named_files(values: Iterable[Any], folders: Sequence[Path]) -> Iterator[Path]:
    """The files, and the manifests of workload folders, that settings name; runs depend on their contents."""
    for value in values:
        for text in value if isinstance(value, list) else [value]:
            for path in [folder / text for folder in folders] if isinstance(text, str) and text else []:
                file = path / MANIFEST if path.is_dir() else path
                if file.is_file():
                    yield file
