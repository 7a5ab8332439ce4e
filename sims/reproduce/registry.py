"""All experiments by their id: what `sub2sub reproduce` lists and runs.

A module under `sims/reproduce/` registers its experiments; `experiments()` imports those modules when it is
first asked, so naming an id costs nothing until then.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import cache

from sims.reproduce.reproduction import REGISTERED, Experiment
from sub2sub.errors import InputError

PAPERS = {
    "sub2sub": "Sub-2-Sub",
    "cyclon": "CYCLON, beneath Sub-2-Sub",
    "camcast": "CAMCAST and Data-Aware Multicast",
    "hpmcast": "rfpbcast, pmcast, hpmcast",
    "pmcast": "rfpbcast, pmcast, hpmcast",
    "live": "Live peers",
}
"""Headings, by the beginning of the ids."""


def experiments() -> dict[str, Experiment]:
    """All experiments, by id, in the order of their modules."""
    _import_all()
    return dict(REGISTERED)


def find(id: str) -> Experiment:
    """The experiment of that id; an unknown one is refused with the nearest known id."""
    known = experiments()
    if id not in known:
        near = difflib.get_close_matches(id, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        raise InputError(f"experiment: {id!r} is unknown; {hint}")
    return known[id]


def by_paper() -> dict[str, list[Experiment]]:
    """All experiments under the headings of `PAPERS`."""
    found: dict[str, list[Experiment]] = {heading: [] for heading in PAPERS.values()}
    for experiment in experiments().values():
        found.setdefault(PAPERS.get(experiment.id.partition("-")[0], "Others"), []).append(experiment)
    return found


@cache
def _import_all() -> None:
    package = importlib.import_module("sims.reproduce")
    for module in pkgutil.walk_packages(package.__path__, "sims.reproduce."):
        importlib.import_module(module.name)
