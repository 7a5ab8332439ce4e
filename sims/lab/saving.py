"""Saves the actions of a laboratory as an experiment file; `sub2sub run` repeats them, draw for draw.

Crashes, recoveries and loss happen between two cycles, before the churn of the cycle. So their entries come
first, in the order of the actions, and those of churn last. The number of shortcuts k has its last value. The
published events are the test events of the run, in a table in the same folder; they are published at the end
of each cycle in which the user published one.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomlkit
from numpy.typing import NDArray
from pyarrow import csv

from sims.config.experiment import Experiment
from workloads.files.atomic import atomic_write, write_text
from workloads.settings.parameters import plain

HEAD = "# Saved by `sub2sub lab`; `sub2sub run {name}` repeats it.\n"


def save_experiment(
    folder: Path,
    experiment: Experiment,
    *,
    seed: int,
    cycles: int,
    shortcuts: int,
    faults: Sequence[Mapping[str, Any]],
    published: Sequence[tuple[int, NDArray[Any]]],
    attributes: Sequence[str],
) -> Path:
    """Write the file and its tables to a folder, under the next free name; return the path of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    number = next(k for k in range(1, 10_000) if not (folder / f"lab-{k}.toml").exists())
    path = folder / f"lab-{number}.toml"
    data = plain(experiment)
    data |= {"title": "Saved by the laboratory", "cycles": max(cycles, 1), "seeds": [seed]}
    data["dissemination"]["shortcuts"] = shortcuts
    data["faults"] = [dict(fault) for fault in faults]
    observers: list[dict[str, Any]] = [{"kind": "rings"}]
    if published:
        data["workload"] |= {"event_table": f"{path.stem}-events.csv", "events": 0}
        points = {name: [float(at[k]) for _, at in published] for k, name in enumerate(attributes)}
        with atomic_write(folder / f"{path.stem}-events.csv") as draft:
            csv.write_csv(pa.table(points), draft)
        observers += [{"kind": "delivery", "at": cycle} for cycle in sorted({c for c, _ in published})]
    else:
        observers.append({"kind": "delivery", "at": max(cycles, 1)})
    data["observers"] = [*observers, {"kind": "snapshot", "at": max(cycles, 1)}]
    spec = Path(str(data["workload"].get("spec", "")))
    if spec.suffix == ".toml" and not data["workload"].get("table"):
        shutil.copyfile(spec, folder / f"{path.stem}-workload.toml")
        data["workload"]["spec"] = f"{path.stem}-workload.toml"
    return write_text(path, HEAD.format(name=path.name) + tomlkit.dumps(data))
