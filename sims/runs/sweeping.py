"""One run of a sweep: an experiment with some settings changed; its final numbers are one row.

In a sweep's file:

    run = "sims.runs.sweeping:run"
    seeds = 5

    [settings]
    experiment = "sub2sub-fig5"         # a name, or the path of a file
    "population.size" = 2000

    [grid]
    "dissemination.shortcuts" = [0, 1, 2]
    "layers.ring.exchanges" = [1, 2]
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sims.config.experiment import load_experiment
from sims.config.shipped import find_file
from sims.runs.runner import final_numbers, start
from sub2sub.errors import InputError
from workloads.settings.documents import Change


def check(experiment: str | None, changes: Sequence[Change]) -> None:
    """Refuse an experiment that is invalid with these changes."""
    if experiment is None:
        raise InputError("experiment: expected a name or the path of a file, there is none")
    try:
        file = find_file(experiment)
    except InputError as failure:
        raise InputError(f"experiment: {failure}") from None
    load_experiment(file, changes)


def run(settings: Mapping[str, Any]) -> dict[str, float]:
    """Run the experiment `settings["experiment"]` with the other settings changed; return its final numbers.

    Parameters
    ----------
    settings : mapping
        `experiment`, `seed`, and settings of the experiment by their dotted keys.

    Raises
    ------
    InputError
        If the experiment or a setting is invalid.

    Examples
    --------
    >>> found = run({"experiment": "sub2sub-fig5", "seed": 1, "population.size": 100, "workload.events": 20})
    >>> found["hit_ratio"]
    1.0
    """
    if "experiment" not in settings:
        raise InputError("experiment: expected a name or the path of a file")
    changes = {key: value for key, value in settings.items() if key not in ("experiment", "seed")}
    with tempfile.TemporaryDirectory(prefix="sub2sub-run-") as folder:
        source, seed = str(settings["experiment"]), settings.get("seed")
        experiment, simulation = start(source, seed, Path(folder), changes)
        simulation.run(experiment.cycles)
    return final_numbers(simulation.tables)
