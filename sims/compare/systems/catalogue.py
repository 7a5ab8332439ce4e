"""Which systems take part in which world."""

from __future__ import annotations

from sims.compare.systems.broadcast import Broadcast
from sims.compare.systems.camcast import Camcast
from sims.compare.systems.hierarchical import Hierarchical
from sims.compare.systems.hpmcast import Hpmcast, Pmcast, Rfpbcast
from sims.compare.systems.multicast import Multicast
from sims.compare.systems.pressed import Cover, Enclosing
from sims.compare.systems.rings import AcknowledgedRings, Rings
from sims.compare.systems.shared import SharedCamcast
from sims.compare.systems.system import System
from sub2sub.errors import InputError

__all__ = ["SYSTEMS", "system_named", "systems_of"]

SYSTEMS: dict[str, tuple[type[System], ...]] = {
    "topics": (
        Rings,
        AcknowledgedRings,
        SharedCamcast,
        Camcast,
        Multicast,
        Broadcast,
        Hierarchical,
        Rfpbcast,
        Pmcast,
        Hpmcast,
    ),
    "ranges": (Rings, AcknowledgedRings, Enclosing, Cover, Pmcast, Hpmcast, Broadcast),
    "between": (Rings, Enclosing, Cover),
}


def system_named(name: str) -> type[System]:
    """The system of that name."""
    known = {system.name: system for systems in SYSTEMS.values() for system in systems}
    if name not in known:
        raise InputError(f"system = {name!r}: expected one of {', '.join(known)}")
    return known[name]


def systems_of(world: str) -> list[str]:
    """Names of the systems that take part in a world.

    Examples
    --------
    >>> "broadcast" in systems_of("ranges power-law-3")
    True
    """
    return [system.name for system in SYSTEMS[world.partition(" ")[0]]]
