"""rfpbcast, pmcast and hpmcast: hierarchical probabilistic multicast (hpmcast)."""

from hierarchy.hpmcast.addresses import AddressSpace
from hierarchy.hpmcast.dissemination import Multicast, disseminate
from hierarchy.hpmcast.membership.exact import exact_knowledge, spread_interest
from hierarchy.hpmcast.membership.layer import Membership
from hierarchy.hpmcast.membership.overlay import Hierarchy
from hierarchy.hpmcast.population import Population
from hierarchy.hpmcast.settings import Condensation, Upkeep
from hierarchy.hpmcast.views import Knowledge, Views
from hierarchy.peers.settings import Gossip, Reading

__all__ = [
    "AddressSpace", "Condensation", "Gossip", "Hierarchy", "Knowledge", "Membership", "Multicast",
    "Population", "Reading", "Upkeep", "Views", "disseminate", "exact_knowledge", "spread_interest",
]  # fmt: skip
