"""Systems by name: that of a file in one of the rooms, imported when it is asked for.

`gossipsub, D 8` is the variant `D 8` of the system in `gossipsub.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sims.rivals.base.entrants import Compared, Entrant, Knob, Variant
from sims.rivals.base.system import System
from sub2sub.errors import InputError
from workloads.settings.models import table
from workloads.settings.plugins import is_plugin, plugin
from workloads.settings.reading import read

HERE = Path(__file__).parent.parent
ROOMS = ("papers", "encodings", "others")
PLACES = {
    path.stem.replace("_", " "): f"sims.rivals.{room}.{path.stem}"
    for room in ROOMS
    for path in sorted((HERE / room).glob("[!_]*.py"), key=lambda path: (path.stem != "sub2sub", path.stem))
}
# Topics on a grid need interests on that grid, which only `compare` has.
RUNNABLE = tuple(
    name for name, place in PLACES.items() if ".encodings." not in place and name != "matching tree"
)


def system(name: str) -> type[System]:
    """Return the system of that name, or a user's own, `module:Class`.

    Examples
    --------
    >>> system("sub2sub").layer_names
    ('cyclon', 'vicinity', 'ring')
    """
    if is_plugin(name):
        found = plugin(name, "system")
        if not (isinstance(found, type) and issubclass(found, System)):
            raise InputError(f"system = {name!r}: expected a subclass of sims.rivals.System")
        return found
    if name not in PLACES:
        raise InputError(f"system = {name!r}: expected one of {', '.join(PLACES)}")
    return next(
        each for each in vars(import_module(PLACES[name])).values()
        if isinstance(each, type) and issubclass(each, System) and vars(each).get("name") == name
    )  # fmt: skip


@cache
def entrant(name: str) -> Entrant:
    """Return a system, or a variant `SYSTEM, VARIANT` of one, as it takes part in comparisons.

    A user's own variant is given as JSON: name, system, layers, dissemination and knobs.

    Examples
    --------
    >>> entrant("gossipsub, D 3").worlds
    ('topics', 'ranges')
    """
    if name.startswith("{"):
        return _own(json.loads(name))
    base, _, variant = name.partition(", ")
    found = system(base)
    if not issubclass(found, Compared):
        raise InputError(f"system = {name!r}: expected a system that can be compared")
    if variant and variant not in found.variants:
        raise InputError(f"system = {name!r}: expected one of {', '.join([base, *_variants(base, found)])}")
    return Entrant(name, found, found.variants[variant] if variant else Variant())


def is_known(name: str) -> bool:
    """Whether a name is that of a shipped system or variant."""
    base, _, variant = name.partition(", ")
    return base in PLACES and (not variant or variant in getattr(system(base), "variants", {}))


def _variants(name: str, found: type[Compared]) -> Iterator[str]:
    return (f"{name}, {variant}" for variant in found.variants)


@cache
def entrants_of(kind: str) -> tuple[str, ...]:
    """Return the names of the systems and variants that enter worlds of a kind.

    Examples
    --------
    >>> entrants_of("between")
    ('sub2sub', 'enclosing topic', 'exact cover')
    """
    found = ((name, system(name)) for name in PLACES)
    names = [
        each for name, one in found if issubclass(one, Compared) for each in (name, *_variants(name, one))
    ]
    return tuple(name for name in names if kind in entrant(name).worlds)


def _own(given: Mapping[str, Any]) -> Entrant:
    """A variant that a user described; its settings are checked as those of an experiment are."""
    base = entrant(given["system"])
    kinds = {"layers": base.system.layers, "dissemination": base.system.dissemination}
    if unknown := given.keys() - {"name", "system", "knobs", *kinds}:
        raise InputError(f"{given['name']}: expected no {', '.join(sorted(unknown))}")
    layers, dissemination = (
        read(table(kind), given[name]) if name in given else None for name, kind in kinds.items()
    )
    knobs = tuple(Knob(knob) for knob in given["knobs"]) if "knobs" in given else None
    made = Entrant(
        given["name"], base.system,
        Variant(layers or base.variant.layers, dissemination or base.variant.base, knobs),
    )  # fmt: skip
    for knob in knobs or ():
        try:
            made.at(knob)
        except TypeError as failure:
            raise InputError(f"{made.name}: knob {knob}: {failure}") from None
    return made
