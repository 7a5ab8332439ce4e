"""Sub-2-Sub: a content-based publish/subscribe overlay.

The names below are imported when they are first used, so that `import sub2sub` does not wait for numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sub2sub.compiled.common.layer import Layer
    from sub2sub.compiled.common.links import Links
    from sub2sub.compiled.common.network import Network
    from sub2sub.compiled.events.dissemination import disseminate
    from sub2sub.compiled.events.outcome import Outcome, gini
    from sub2sub.compiled.events.publishing import Walks, find_entry
    from sub2sub.errors import InputError
    from sub2sub.geometry.attributes import Bool, Enum, Float, Int, String
    from sub2sub.geometry.boxes import (
        closed,
        contains,
        gap_distance,
        intersection,
        normalise,
        overlaps,
        subtract,
    )
    from sub2sub.geometry.matching import Members, match
    from sub2sub.geometry.moments import Date, Timestamp
    from sub2sub.geometry.regions import Regions, minimal_regions
    from sub2sub.geometry.space import AttributeSpace, Ranges
    from sub2sub.geometry.widths import typical_widths
    from sub2sub.overlay.overlay import Overlay
    from sub2sub.overlay.per_peer import PerPeer
    from sub2sub.overlay.population import Population
    from sub2sub.overlay.published import Published
    from sub2sub.overlay.stack import Stack
    from sub2sub.peers.draws import Random
    from sub2sub.peers.settings import (
        CyclonSettings,
        DisseminationSettings,
        OverlaySettings,
        Partner,
        PublisherSettings,
        RingSettings,
        VicinitySettings,
    )
    from sub2sub.rings.ring_index import RingIndex, RingLinks
    from sub2sub.rings.ring_view import RingNeighbours, RingView
    from sub2sub.rings.selection import RingSelection, select_ring
    from sub2sub.rings.true_rings import Neighbours, ring_neighbours, true_rings
    from sub2sub.tables import Table

_NAMES = {
    "geometry.attributes": ("Bool", "Enum", "Float", "Int", "String"),
    "geometry.boxes": (
        "closed",
        "contains",
        "gap_distance",
        "intersection",
        "normalise",
        "overlaps",
        "subtract",
    ),
    "compiled.events.dissemination": ("disseminate",),
    "errors": ("InputError",),
    "compiled.common.links": ("Links",),
    "geometry.matching": ("Members", "match"),
    "geometry.moments": ("Date", "Timestamp"),
    "compiled.common.network": ("Network",),
    "compiled.events.outcome": ("Outcome", "gini"),
    "overlay.overlay": ("Overlay",),
    "overlay.population": ("Population",),
    "overlay.published": ("Published",),
    "tables": ("Table",),
    "peers.draws": ("Random",),
    "peers.settings": (
        "CyclonSettings",
        "DisseminationSettings",
        "OverlaySettings",
        "Partner",
        "PublisherSettings",
        "RingSettings",
        "VicinitySettings",
    ),
    "compiled.common.layer": ("Layer",),
    "overlay.per_peer": ("PerPeer",),
    "overlay.stack": ("Stack",),
    "compiled.events.publishing": ("Walks", "find_entry"),
    "geometry.regions": ("Regions", "minimal_regions"),
    "rings.true_rings": ("Neighbours", "ring_neighbours", "true_rings"),
    "rings.ring_index": ("RingIndex", "RingLinks"),
    "rings.selection": ("RingSelection", "select_ring"),
    "rings.ring_view": ("RingNeighbours", "RingView"),
    "geometry.space": ("AttributeSpace", "Ranges"),
    "geometry.widths": ("typical_widths",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AttributeSpace",
    "Bool",
    "CyclonSettings",
    "Date",
    "DisseminationSettings",
    "Enum",
    "Float",
    "InputError",
    "Int",
    "Layer",
    "Links",
    "Members",
    "Neighbours",
    "Network",
    "Outcome",
    "Overlay",
    "OverlaySettings",
    "Partner",
    "PerPeer",
    "Population",
    "Published",
    "PublisherSettings",
    "Random",
    "Ranges",
    "Regions",
    "RingIndex",
    "RingLinks",
    "RingNeighbours",
    "RingSelection",
    "RingSettings",
    "RingView",
    "Stack",
    "String",
    "Table",
    "Timestamp",
    "VicinitySettings",
    "Walks",
    "closed",
    "contains",
    "disseminate",
    "find_entry",
    "gap_distance",
    "gini",
    "intersection",
    "match",
    "minimal_regions",
    "normalise",
    "overlaps",
    "ring_neighbours",
    "select_ring",
    "subtract",
    "true_rings",
    "typical_widths",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("sub2sub.version").VERSION
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # found here from now on
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
