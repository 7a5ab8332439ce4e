"""Membership services: SCAMP, P-Grid, and the memberships of CAMCAST that use them."""

from hierarchy.membership.flooding import Flooding
from hierarchy.membership.gateways import Gateways
from hierarchy.membership.interface import Membership
from hierarchy.membership.overlay import CommunityOverlay
from hierarchy.membership.pgrid.layer import Found, PGrid
from hierarchy.membership.pgrid.settings import PGridSettings
from hierarchy.membership.scamp.layer import Scamp
from hierarchy.membership.scamp.settings import ScampSettings
from hierarchy.membership.semi_structured import OverlayFinder, SemiStructured
from hierarchy.membership.structured import Structured
from hierarchy.membership.transport import SimulatedTransport
from hierarchy.membership.unstructured import Unstructured

__all__ = [
    "CommunityOverlay", "Flooding", "Found", "Gateways", "Membership", "OverlayFinder", "PGrid",
    "PGridSettings", "Scamp", "ScampSettings", "SemiStructured", "SimulatedTransport", "Structured",
    "Unstructured",
]  # fmt: skip
