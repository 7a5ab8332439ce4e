"""An experiment as a TOML file: everything a run depends on, checked as a whole before anything runs.

    cycles = 40
    seeds = [1, 2, 3]

    [population]
    size = 10_000

    [workload]
    spec = "power-law-3"

    [layers]
    base = "paper"          # the protocols as published; the default recovers from crashes
    ring.exchanges = 2

    [[faults]]
    kind = "crash"
    at = 20
    share = 0.2

    [[observers]]
    kind = "rings"

See docs/guide.md for all keys, or `sub2sub run NAME --show` for those of one experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sims.config.entries import FAULTS, Entries, Entry
from sims.config.interests import PopulationSettings
from sims.config.schema import Key, Problem, Reader, plain
from sims.config.toml import dumps, line_of, override, parse_override
from sims.runs.systems import NAMES, system
from sub2sub.errors import InputError

__all__ = ["Experiment", "experiment_from", "load_experiment"]


@dataclass(frozen=True)
class Experiment:
    """Everything a run depends on but its seed.

    Attributes
    ----------
    title : str
        What it shows, in a line.
    cycles : int
        How long it runs.
    seeds : tuple of int
        One run for each.
    checkpoint_every : int
        Cycles between checkpoints, 0 for none but when interrupted.
    system : str
        The overlay to simulate.
    population, workload, layers, dissemination
        Settings, whose types depend on the system.
    faults, observers : tuple of Entry
        What happens to the population, and what is looked at, when.
    """

    title: str = ""
    cycles: int = 40
    seeds: tuple[int, ...] = (1,)
    checkpoint_every: int = 10
    system: Literal[NAMES] = "sub2sub"  # type: ignore[valid-type]
    population: PopulationSettings = field(default_factory=PopulationSettings)
    workload: Any = None
    layers: Any = None
    dissemination: Any = None
    faults: tuple[Entry, ...] = ()
    observers: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        """Refuse lengths and seeds that cannot be."""
        if self.cycles < 1:
            raise InputError(f"cycles: expected 1 or more, got {self.cycles}")
        if self.checkpoint_every < 0:
            raise InputError(f"checkpoint_every: expected 0 or more cycles, got {self.checkpoint_every}")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise InputError(f"seeds: expected one or more, all different, got {list(self.seeds)}")
        if any(not 0 <= seed < 2**63 for seed in self.seeds):
            raise InputError(f"seeds: expected numbers from 0 to 2^63 - 1, got {list(self.seeds)}")

    def to_toml(self) -> str:
        """The file that gives the same experiment back, every default written out."""
        return dumps(plain(self))


def experiment_from(data: Mapping[str, Any], reader: Reader) -> Experiment | None:
    """The experiment that tables describe; None if something is wrong, which the reader knows.

    Examples
    --------
    >>> reader = Reader()
    >>> experiment_from({"cycles": 5, "layers": {"base": "paper"}}, reader).layers.suspect_age
    0
    """
    name = data.get("system", "sub2sub")
    chosen = system(name if name in NAMES else "sub2sub")
    last = data.get("cycles", Experiment.cycles)
    cycles = last if type(last) is int and last > 0 else None  # schedules are checked if it is known
    usual = [{**table, **({"at": cycles or 0} if table.get("at") == -1 else {})} for table in chosen.usual]
    filled = {"workload": {}, "layers": {}, "dissemination": {}, "observers": usual, **data}
    return reader.read(  # type: ignore[no-any-return]
        Experiment,
        filled,
        hints={
            "workload": chosen.workload,
            "layers": chosen.layers,
            "dissemination": chosen.dissemination,
            "faults": Entries(FAULTS, chosen.supplied, chosen.layer_names, cycles),
            "observers": Entries(chosen.observers, chosen.supplied, chosen.layer_names, cycles),
        },
    )


def load_experiment(path: Path, changes: Sequence[str] = ()) -> Experiment:
    """The experiment in a TOML file, with changes of the form `a.b=c`.

    Raises
    ------
    InputError
        With a line for everything that is wrong: file, line, key and what was expected.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    changed: dict[Key, str] = {}
    for change in changes:
        key, value = parse_override(change)
        override(data, key, value)
        changed[key] = f"--set {change}"
    reader = Reader(path.parent, changed)
    _locate_spec(data, reader)
    experiment = experiment_from(data, reader)
    if experiment is None or reader.problems:
        lines = [f"{_place(problem, path, text, changed)}: {problem.text}" for problem in reader.problems]
        raise InputError("\n".join(lines))
    return experiment


def _locate_spec(data: dict[str, Any], reader: Reader) -> None:
    """A spec may be a name or a file; a file is a path like others."""
    workload = data.get("workload")
    if isinstance(workload, dict) and str(workload.get("spec", "")).endswith(".toml"):
        workload["spec"] = str(reader.locate(workload["spec"], ("workload", "spec")))


def _place(problem: Problem, path: Path, text: str, changed: Mapping[Key, str]) -> str:
    for key, change in changed.items():
        if problem.key[: len(key)] == key or key[: len(problem.key)] == problem.key:
            return change
    line = line_of(text, problem.key) if problem.key else None
    return f"{path}:{line}" if line else str(path)
