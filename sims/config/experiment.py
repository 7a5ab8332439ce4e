"""An experiment as a TOML file: all settings of a run, checked together before anything runs.

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

    [network]               # events in milliseconds
    latency = "log-normal"
    ms = 40.0

See docs/guide.md for all keys, or `sub2sub run NAME --show` for those of one experiment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import tomlkit

from sims.config.entries import FAULTS, Entry, entries
from sims.config.interests import PopulationSettings
from sims.rivals import RUNNABLE as NAMES
from sims.rivals import system
from sub2sub.compiled.timing.settings import Timing
from sub2sub.errors import InputError
from workloads.files.atomic import file_name
from workloads.settings.documents import Change, Document, typed_change
from workloads.settings.models import table
from workloads.settings.parameters import plain
from workloads.settings.plugins import is_plugin
from workloads.settings.reading import read
from workloads.settings.values import choice


@dataclass(frozen=True)
class Experiment:
    """All settings of a run except its seed.

    Attributes
    ----------
    title : str
        Title of the experiment, in one line.
    cycles : int
        Number of cycles.
    seeds : tuple of int
        Random seeds; there is one run for each.
    checkpoint_every : int
        Number of cycles between checkpoints; with 0 there is one only when the run is interrupted.
    system : str
        The system to simulate; `module:Class` for your own.
    population : PopulationSettings
        Number of subscribers.
    workload : dataclass of the system
        Subscriptions and test events.
    layers : dataclass of the system
        The overlay's protocols.
    dissemination : dataclass of the system
        Settings of the dissemination of events.
    faults : tuple of Entry
        Faults, with the cycles in which they happen.
    observers : tuple of Entry
        Observers, with the cycles in which they measure; those usual for the system if not given.
    engine : str
        "cycles", after PeerSim, or "events": whole live nodes under virtual time, on a network with latencies
        (`sims.live.event_driven`; for a thousand peers or so).
    latency : (float, float)
        With events: cycles that a message takes between two peers, at least and at most.
    network : Timing, optional
        With cycles: milliseconds that messages with events take; hops are counted without it.
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
    engine: Literal["cycles", "events"] = "cycles"
    latency: tuple[float, float] = (0.01, 0.1)
    network: Timing | None = None

    def __post_init__(self) -> None:
        """Refuse invalid lengths, latencies, names and seeds."""
        if not 1 <= self.cycles < 2**31:
            most = " and below 2^31" if self.cycles > 0 else ""
            raise InputError(f"cycles: expected 1 or more{most}, got {self.cycles}")
        if not 0 < self.latency[0] <= self.latency[1]:
            raise InputError(f"latency: expected two numbers above 0, the lower first, got {self.latency}")
        if self.checkpoint_every < 0:
            raise InputError(f"checkpoint_every: expected 0 or more cycles, got {self.checkpoint_every}")
        for kind in ("faults", "observers"):
            for place, entry in enumerate(getattr(self, kind)):
                name = str(entry.arguments.get("name", entry.kind.rpartition(":")[2]))
                file_name(name, f"{kind}[{place}].name")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise InputError(f"seeds: expected one or more, all different, got {list(self.seeds)}")
        if any(not 0 <= seed < 2**63 for seed in self.seeds):
            raise InputError(f"seeds: expected numbers from 0 to 2^63 - 1, got {list(self.seeds)}")

    def to_toml(self) -> str:
        """Return the experiment as a TOML file, with every default written out."""
        return tomlkit.dumps(plain(self))


@cache
def experiment_type(name: str, whole: bool = False) -> Any:
    """Return the type of an experiment of a system; with all kinds of entries for a schema."""
    chosen = system(name)
    return table(
        Experiment,
        name=f"{name} experiment",
        hints={
            "system": choice(NAMES if name in NAMES else (name,)),
            "workload": chosen.workload,
            "layers": chosen.layers,
            "dissemination": chosen.dissemination,
            "faults": entries(FAULTS, chosen.supplied, chosen.layer_names, True, whole),
            "observers": entries(chosen.observers, chosen.supplied, chosen.layer_names, False, whole),
        },
    )


def _complete(data: Mapping[str, Any]) -> tuple[Any, dict[str, Any], int | None]:
    """Return the type of an experiment, its tables with defaults, and its number of cycles if valid."""
    name = data.get("system", "sub2sub")
    name = name if name in NAMES or is_plugin(name) else "sub2sub"
    last = data.get("cycles", Experiment.cycles)
    cycles = last if type(last) is int and last > 0 else None  # needed to check schedules
    empty: dict[str, Any] = {"workload": {}, "layers": {}, "dissemination": {}}
    return experiment_type(name), {**empty, "observers": list(system(name).usual), **data}, cycles


def experiment_from(data: Mapping[str, Any]) -> Experiment:
    """Return the experiment that nested tables describe.

    Raises
    ------
    InputError
        With one line per mistake.

    Examples
    --------
    >>> experiment_from({"cycles": 5, "layers": {"base": "paper"}}).layers.suspect_age
    0
    """
    kind, filled, cycles = _complete(data)
    return read(kind, filled, cycles=cycles)  # type: ignore[no-any-return]


def load_experiment(path: Path, changes: Sequence[str | Change] = ()) -> Experiment:
    """Read an experiment from a TOML file and apply changes, given as `a.b=c` or as `Change`.

    Raises
    ------
    InputError
        With one line per mistake: file, line, key and what was expected.
    """
    made = [typed_change(change) if isinstance(change, str) else change for change in changes]
    document = Document.open(path, made)
    try:
        kind, filled, cycles = _complete(document.data)
    except InputError as error:
        raise InputError(f"{document.place(('system',))}: {error}") from None
    return document.read(kind, filled, cycles=cycles)  # type: ignore[no-any-return]
