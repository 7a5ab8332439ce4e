"""Systems by name, imported when they are asked for."""

from __future__ import annotations

from importlib import import_module

from sims.systems.interface import System
from sub2sub.errors import InputError
from workloads.settings.plugins import is_plugin, plugin

_PLACES = {
    "sub2sub": "sub2sub:Sub2Sub",
    "sub2sub, tuned": "sub2sub:TunedSub2Sub",
    "sub2sub as published": "sub2sub:PublishedSub2Sub",
    "camcast on rings": "shared_camcast:SharedCamcast",
    "camcast": "camcast:Camcast",
    "multicast": "multicast:Multicast",
    "broadcast": "broadcast:Broadcast",
    "hierarchical": "hierarchical:Hierarchical",
    "rfpbcast": "hpmcast:Rfpbcast",
    "pmcast": "hpmcast:Pmcast",
    "hpmcast": "hpmcast:Hpmcast",
    "hpmcast as printed": "hpmcast:PrintedHpmcast",
    "hpmcast, piggybacked": "hpmcast:PiggybackedHpmcast",
    "enclosing topic": "dyadic_topics:Enclosing",
    "exact cover": "dyadic_topics:Cover",
    "protocols": "protocols:Protocols",
    "broker": "bounds:BrokerSystem",
    "matching tree": "bounds:MatchingTree",
    "plumtree": "plumtree:PlumtreeSystem",
    "plumtree, view 3": "plumtree:ActiveViewOf3",
    "plumtree, view 4": "plumtree:ActiveViewOf4",
    "gossipsub": "gossipsub:GossipSubSystem",
    "gossipsub, D 3": "gossipsub:MeshOf3",
    "gossipsub, D 4": "gossipsub:MeshOf4",
    "gossipsub, D 8": "gossipsub:MeshOf8",
    "poldercast": "poldercast:PolderCastSystem",
    "poldercast, views 10": "poldercast:NarrowPolderCast",
    "scribe": "scribe:ScribeSystem",
    "meghdoot": "meghdoot:MeghdootSystem",
}
# What `sub2sub run` takes. Topics on a dyadic grid need interests on that grid, which only `compare` has.
RUNNABLE = (
    "sub2sub", "camcast", "hpmcast", "camcast on rings", "multicast", "broadcast", "hierarchical", "pmcast",
    "rfpbcast", "broker", "plumtree", "gossipsub", "poldercast", "scribe", "meghdoot",
    "protocols",
)  # fmt: skip
COMPARED: dict[str, tuple[str, ...]] = {
    "topics": (
        "sub2sub", "sub2sub, tuned", "sub2sub as published", "camcast on rings", "camcast", "multicast",
        "broadcast", "hierarchical", "rfpbcast", "pmcast", "hpmcast", "hpmcast as printed",
        "hpmcast, piggybacked", "plumtree", "plumtree, view 4", "plumtree, view 3", "gossipsub",
        "gossipsub, D 8", "gossipsub, D 4", "gossipsub, D 3", "poldercast", "poldercast, views 10", "scribe",
        "meghdoot", "broker", "matching tree",
    ),
    "ranges": (
        "sub2sub", "sub2sub, tuned", "sub2sub as published", "enclosing topic", "exact cover", "pmcast",
        "hpmcast", "hpmcast as printed", "broadcast", "plumtree", "gossipsub", "meghdoot", "broker",
        "matching tree",
    ),
    "between": ("sub2sub", "enclosing topic", "exact cover"),
}  # fmt: skip


def system(name: str) -> type[System]:
    """The system of that name.

    Examples
    --------
    >>> system("sub2sub").layer_names
    ('cyclon', 'vicinity', 'ring')
    """
    if is_plugin(name):
        return _own_system(name)
    if name not in _PLACES:
        raise InputError(f"system = {name!r}: expected one of {', '.join(_PLACES)}")
    module, _, kind = _PLACES[name].partition(":")
    found: type[System] = getattr(import_module(f"sims.systems.{module}"), kind)
    return found


def _own_system(name: str) -> type[System]:
    """A system from a plugin, if the user has agreed to run it."""
    found = plugin(name, "system")
    if not (isinstance(found, type) and issubclass(found, System)):
        raise InputError(f"system = {name!r}: expected a subclass of sims.systems.System")
    return found


def systems_of(world: str) -> tuple[str, ...]:
    """Names of the systems that take part in a world.

    Examples
    --------
    >>> "broadcast" in systems_of("ranges power-law-3")
    True
    """
    return COMPARED[world.partition(" ")[0]]
