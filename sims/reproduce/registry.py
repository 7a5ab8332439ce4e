"""All reproductions by their id: what `sub2sub reproduce` lists and runs.

They are found by walking the rooms of this folder. Listing them reads files, and loads no module; an id loads
one module, the one beside its file.
"""

from __future__ import annotations

import difflib
import importlib
from functools import cache
from pathlib import Path

from sims.reproduce.described import CLAIMS, EVERY, described, reproduction
from sims.reproduce.reproduction import Reproduction
from sub2sub.errors import InputError

PAPERS = {
    "sub2sub": "Sub-2-Sub",
    "camcast": "CAMCAST and Data-Aware Multicast",
    "hpmcast": "rfpbcast, pmcast, hpmcast",
    "live": "Live peers",
}
"""Headings, by room."""


@cache
def files() -> dict[str, Path]:
    """The file that describes each reproduction, room by room."""
    paths = [path for room in PAPERS for path in sorted((Path(__file__).parent / room).glob("*.toml"))]
    return {id: path for path in paths for id in described(path) if id not in (CLAIMS, EVERY, "also")}


def titles() -> dict[str, str]:
    """The title of each reproduction.

    Examples
    --------
    >>> titles()["sub2sub-fig7a"]
    'Distribution of ring lengths'
    """
    return {id: described(path)[id]["title"] for id, path in files().items()}


def module_of(id: str) -> str:
    """The module of a reproduction."""
    path = files()[id]
    return f"sims.reproduce.{path.parent.name}.{path.stem}"


def find(id: str) -> Reproduction:
    """The reproduction of that id; an unknown one is refused with the nearest known id."""
    known = files()
    if id not in known:
        near = difflib.get_close_matches(id, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        raise InputError(f"reproduction: {id!r} is unknown; {hint}")
    return reproduction(id, known[id], importlib.import_module(module_of(id)))


def by_paper() -> dict[str, list[str]]:
    """All ids, by room."""
    return {room: [id for id, path in files().items() if path.parent.name == room] for room in PAPERS}
