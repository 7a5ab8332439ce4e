"""Starts an experiment file as a simulation, for programs that step it themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sims.config.experiment import Experiment, load_experiment
from sims.config.shipped import find_file
from sims.engine import Simulation
from sims.runs.memory import refuse_too_large
from sims.runs.runner import simulation_of
from workloads.settings.documents import changed_setting


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
