"""Running an experiment: writes tables, figures and checkpoints to a run folder; resumes and extends runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sims.config.experiment import Experiment, load_experiment
from sims.config.interests import Subscriptions
from sims.config.shipped import find_file
from sims.engine import Simulation
from sims.rivals import system
from sims.rivals.base.system import System
from sims.runs.folder import CHECKPOINT, SETTINGS, RunFolder, RunWriter, is_run_folder
from sims.runs.memory import refuse_too_large
from sub2sub.errors import InputError
from workloads.files.checked import file_digest
from workloads.settings.documents import changed_setting
from workloads.settings.parameters import parameters
from workloads.spec.types import types_to

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ended:
    """A finished run: its folder and its final numbers."""

    folder: Path
    seed: int
    seconds: float
    numbers: Mapping[str, float]


def simulation_of(experiment: Experiment, seed: int, folder: Path) -> Simulation:
    """Return the simulation of an experiment at cycle 0, before any peer has joined.

    Examples
    --------
    >>> from sims.config.experiment import experiment_from
    >>> experiment = experiment_from({"population": {"size": 50}, "workload": {"events": 10}})
    >>> simulation = simulation_of(experiment, seed=1, folder=Path("unused"))
    >>> simulation.overlay.bootstrap()
    >>> simulation.step()
    >>> simulation.tables["rings"][0]["cycle"]
    0
    """
    return _simulation(experiment, _prepared(experiment, seed), folder)


def _prepared(experiment: Experiment, seed: int) -> System:
    """Return the system of an experiment, with its network."""
    prepared: System = system(experiment.system).prepare(experiment, seed)
    if experiment.network is not None:
        from sub2sub.compiled.timing.latency import Clock, seeded

        prepared.network.timing = seeded(experiment.network, seed)
        Clock.of(prepared.network.timing, np.arange(1))  # fails now if a file cannot be read
    return prepared


def _simulation(experiment: Experiment, prepared: System, folder: Path) -> Simulation:
    supplied = {
        "interests": prepared.wanted,
        "events": prepared.wanted.points,
        "settings": experiment.dissemination,
        "system": prepared,
        "folder": folder,
    }
    for entry in experiment.observers:
        if "events" in parameters(entry.make) and not len(prepared.wanted.points):
            raise InputError(f"workload.events: expected 1 or more for the observer {entry.kind}, got 0")
    faults = [
        (entry.schedule, entry.control({**supplied, "first": entry.schedule.start}))
        for entry in experiment.faults
    ]
    # Observers that differ in their schedules only are one control, which runs once in a cycle.
    names = [repr((entry.kind, sorted(entry.arguments.items()))) for entry in experiment.observers]
    made = {name: entry.control(supplied) for name, entry in zip(names, experiment.observers, strict=True)}
    observers = [
        (entry.schedule, made[name]) for name, entry in zip(names, experiment.observers, strict=True)
    ]
    simulation = Simulation(prepared.overlay)
    simulation.faults, simulation.observers = faults, observers
    return simulation


def run_experiment(
    experiment: Experiment,
    seed: int,
    out: Path,
    *,
    name: str = "run",
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Ended:
    """Run an experiment with one seed into the folder `out`.

    Parameters
    ----------
    name : str
        Name of the run in the manifest.
    resume : bool
        Resume the run in `out` from its last checkpoint; the result is bit-identical to an uninterrupted run.
        A run that does not exist yet is started. A run that is done is not changed, or is extended if it has
        fewer cycles: from the beginning, with the same tables.
    overwrite : bool
        Replace a run that exists.
    progress : function (cycles done, cycles in all), optional

    Raises
    ------
    InputError
        If `out` contains other files or a run with other settings.
    KeyboardInterrupt
        On Ctrl-C or SIGTERM, after the end of the cycle and a checkpoint.
    """
    experiment = replace(experiment, seeds=(seed,))
    resumed = resume and is_run_folder(out)
    done = _finished_run(out, experiment) if resumed else None
    if done is not None and done["cycles"] == experiment.cycles:
        return Ended(out, seed, done["seconds"], done["final"])
    # Built before the folder is created: a refused experiment leaves no files.
    refuse_too_large(experiment)
    if experiment.engine == "events":
        return _run_events(experiment, seed, out, name, overwrite or resumed, progress)
    checkpoint, prepared = out / CHECKPOINT, _prepared(experiment, seed)
    if done is not None:  # a longer run may have more places for newcomers, and another end
        checkpoint.unlink(missing_ok=True)
    is_continued = resumed and checkpoint.exists()
    simulation = _simulation(experiment, prepared, out)
    writer = RunWriter.resume(out, experiment.cycles) if resumed else RunWriter.create(
        out, kind="run", name=name, seed=seed, cycles=experiment.cycles, replace=overwrite
    )  # fmt: skip
    with writer:
        if progress is not None:
            progress(0, experiment.cycles)
        if not is_continued:
            simulation.overlay.bootstrap()
        writer.write_settings(experiment.to_toml())
        _note_interests(writer, prepared.wanted)
        if is_continued:
            simulation.load(checkpoint)
            writer.note(f"resumed at cycle {simulation.cycle}")
        else:
            writer.note(f"{int(simulation.overlay.network.alive.sum())} peers, {experiment.cycles} cycles")
        report = None if progress is None else (lambda cycle: progress(cycle, experiment.cycles))
        try:
            simulation.run(experiment.cycles, report, checkpoint, experiment.checkpoint_every)
        finally:
            _write_tables(writer, simulation.tables)
        if "links" not in writer.tables():  # with links, the snapshots have written the peers
            from sims.observers.snapshots import peers_of

            writer.write_table("peers", peers_of(simulation))
        draw_figures(writer)
        writer.manifest["final"] = final_numbers(simulation.tables)
    checkpoint.unlink(missing_ok=True)
    return Ended(out, seed, writer.manifest["seconds"], writer.manifest["final"])


def _run_events(
    experiment: Experiment, seed: int, out: Path, name: str, replaced: bool, progress: Progress | None
) -> Ended:
    """Run an event-driven experiment; an interrupted one starts from the beginning."""
    from sims.live.event_driven import EventDriven

    driven = EventDriven(experiment, seed)
    writer = RunWriter.create(
        out, kind="run", name=name, seed=seed, cycles=experiment.cycles, replace=replaced
    )
    with writer:
        if progress is not None:
            progress(0, experiment.cycles)
        writer.write_settings(experiment.to_toml())
        writer.note(f"{len(driven.lows)} live peers under virtual time, {experiment.cycles} cycles")
        report = None if progress is None else (lambda cycle: progress(cycle, experiment.cycles))
        tables = driven.run(report)
        _write_tables(writer, tables)
        draw_figures(writer)
        writer.manifest["final"] = final_numbers(tables)
    return Ended(out, seed, writer.manifest["seconds"], writer.manifest["final"])


def _note_interests(writer: RunWriter, wanted: Subscriptions) -> None:
    """Write names and types of the attributes to the manifest, and names of subscribers to a table."""
    if wanted.types:
        writer.manifest["attributes"] = list(wanted.types)
        writer.manifest["types"] = types_to(wanted.types)
    if wanted.keys is not None:
        keys = pa.array(wanted.keys[: wanted.n], pa.string())
        writer.write_table(
            "subscribers", pa.table({"host": pa.array(range(len(keys)), pa.int64()), "key": keys})
        )


def _finished_run(out: Path, experiment: Experiment) -> Mapping[str, Any] | None:
    """The manifest of a run that is done and may be extended; None if the run is not done.

    It is refused to change settings other than the number of cycles and the checkpoints.
    """
    manifest = RunFolder.open(out).manifest
    if manifest.get("settings", file_digest(out / SETTINGS)) != file_digest(out / SETTINGS):
        raise InputError(
            f"{out / SETTINGS}: expected the settings with which the run began, the file is damaged or "
            "changed; --set cycles=N extends a run"
        )
    before = load_experiment(out / SETTINGS)
    same = replace(before, cycles=experiment.cycles, checkpoint_every=experiment.checkpoint_every)
    if same.to_toml() != experiment.to_toml():
        pairs = zip(same.to_toml().splitlines(), experiment.to_toml().splitlines(), strict=False)
        was, wanted = next(((a, b) for a, b in pairs if a != b), ("", ""))
        raise InputError(f"{out}: expected the settings of the run there, which has {was!r}, not {wanted!r}")
    if manifest["state"] != "done":
        return None
    for field in ("cycles", "seconds", "final"):
        if manifest.get(field) is None:
            raise InputError(f"{out}: manifest.json: {field}: expected a value, it has none")
    if manifest["cycles"] > experiment.cycles:
        raise InputError(
            f"{out}: cycles: expected {manifest['cycles']} or more, which are done, got {experiment.cycles}"
        )
    return manifest


def _write_tables(writer: RunWriter, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for name, rows in tables.items():
        columns = {column: [row.get(column) for row in rows] for column in rows[0]}
        writer.write_table(name, pa.table(columns))


def draw_figures(run: RunWriter) -> None:
    """Draw a figure for each table of the run that has charts: table `NAME` as `NAME.png`."""
    from sims.report.curves import TABLES
    from sims.report.sources import Source
    from workloads.charts.chart import Sheet
    from workloads.charts.drawing import drawn

    source = Source(run, "run")
    for name, charts_of in TABLES.items():
        if name in run.tables() and (charts := charts_of({run.path.name: source})):
            with drawn(Sheet(charts)) as figure:
                run.write_figure(name, figure)


def start(
    source: str, seed: int | None, folder: Path, changes: Mapping[str, Any] | None = None
) -> tuple[Experiment, Simulation]:
    """Load an experiment, change some settings, and let all peers join.

    Parameters
    ----------
    source : str
        Name of an experiment, or path of a file.
    seed : int, optional
        Random seed; the first one of the experiment if not given.
    folder : Path
        Folder for the large tables of observers.
    changes : mapping, optional
        Settings by their dotted keys.

    Raises
    ------
    InputError
        If the experiment or a change is invalid.

    Examples
    --------
    >>> changes = {"population.size": 100, "observers": [{"kind": "rings"}]}
    >>> experiment, simulation = start("sub2sub-fig5", 1, Path("unused"), changes)
    >>> simulation.run(experiment.cycles)
    >>> simulation.tables["rings"][-1]["complete"]
    1.0
    """
    made = [changed_setting(key, value) for key, value in (changes or {}).items()]
    experiment = load_experiment(find_file(source), made)
    refuse_too_large(experiment)
    simulation = simulation_of(experiment, experiment.seeds[0] if seed is None else seed, folder)
    simulation.overlay.bootstrap()
    return experiment, simulation


Rows = Sequence[Mapping[str, Any]]

_DELIVERY = (
    "hit_ratio", "complete", "messages_per_event", "messages_per_delivery", "duplicates_per_delivery", "spam",
    "hops_mean", "hops_max", "ms_median", "ms_p99", "ms_max", "last_ms_median", "last_ms_p99", "last_ms_max",
)  # fmt: skip
# The columns of the last row of each table that are final numbers, and the names of these.
_LAST = {
    "rings": {"complete": "rings_complete", "links": "ring_links"},
    "delivery": {name: "deliveries_complete" if name == "complete" else name for name in _DELIVERY},
}


def final_numbers(tables: Mapping[str, Rows]) -> dict[str, float]:
    """Return the final numbers of a run from `Simulation.tables`; which ones depends on its observers.

    Examples
    --------
    >>> rings = [{"cycle": c, "complete": x, "links": 1.0} for c, x in enumerate([0.0, 1.0, 0.5, 1.0, 1.0])]
    >>> traffic = [{"cycle": 4, "layer": "ring", "peers": 9, "messages": 20, "bytes": 600}]
    >>> final_numbers({"rings": rings, "traffic": traffic})["complete_since_cycle"]
    3
    """
    found: dict[str, float] = {}
    for table, columns in _LAST.items():
        if tables.get(table):
            last = tables[table][-1]
            found |= {name: last[column] for column, name in columns.items() if column in last}
    if tables.get("rings"):
        found["complete_since_cycle"] = _complete_since(tables["rings"])
    for table, rows in tables.items():
        if table.endswith("-degrees") and rows:
            found[f"{table.removesuffix('-degrees')}_links_per_peer"] = rows[-1]["mean"]
    traffic = tables.get("traffic") or ()
    last_cycle = [row for row in traffic if row["cycle"] == traffic[-1]["cycle"]]
    for column in ("messages", "bytes") if traffic else ():
        found[f"{column}_per_peer_and_cycle"] = sum(row[column] / max(row["peers"], 1) for row in last_cycle)
    return found


def _complete_since(rows: Rows) -> int:
    """Return the first observed cycle from which on all rings are complete; -1 if they are not at the end."""
    first = -1
    for row in reversed(rows):
        if row["complete"] < 1.0:
            break
        first = row["cycle"]
    return int(first)
