"""Membership services: SCAMP, P-Grid, and the memberships of CAMCAST that use them."""

from typing import TYPE_CHECKING

from hierarchy.lazily import lazily

if TYPE_CHECKING:
    from hierarchy.compiled.pgrid.layer import Found, PGrid
    from hierarchy.compiled.scamp.layer import Scamp
    from hierarchy.membership.flooding import Flooding
    from hierarchy.membership.gateways import Gateways
    from hierarchy.membership.interface import Membership
    from hierarchy.membership.overlay import CommunityOverlay
    from hierarchy.membership.semi_structured import OverlayFinder, SemiStructured
    from hierarchy.membership.structured import Structured
    from hierarchy.membership.transport import SimulatedTransport
    from hierarchy.membership.unstructured import Unstructured
    from hierarchy.peers.settings import PGridSettings, ScampSettings

__all__ = [
    "CommunityOverlay", "Flooding", "Found", "Gateways", "Membership", "OverlayFinder", "PGrid",
    "PGridSettings", "Scamp", "ScampSettings", "SemiStructured", "SimulatedTransport", "Structured",
    "Unstructured",
]  # fmt: skip

__getattr__ = lazily(
    __name__,
    {
        "hierarchy.compiled.pgrid.layer": ["Found", "PGrid"],
        "hierarchy.compiled.scamp.layer": ["Scamp"],
        "hierarchy.membership.flooding": ["Flooding"],
        "hierarchy.membership.gateways": ["Gateways"],
        "hierarchy.membership.interface": ["Membership"],
        "hierarchy.membership.overlay": ["CommunityOverlay"],
        "hierarchy.membership.semi_structured": ["OverlayFinder", "SemiStructured"],
        "hierarchy.membership.structured": ["Structured"],
        "hierarchy.membership.transport": ["SimulatedTransport"],
        "hierarchy.membership.unstructured": ["Unstructured"],
        "hierarchy.peers.settings": ["PGridSettings", "ScampSettings"],
    },
)
