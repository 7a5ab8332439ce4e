"""The gossip protocols CAMCAST is compared with, as tables for its dissemination kernel."""

from hierarchy.gossip.broadcast import GossipBroadcast
from hierarchy.gossip.hierarchical import HierarchicalBroadcast
from hierarchy.gossip.multicast import GossipMulticast

__all__ = ["GossipBroadcast", "GossipMulticast", "HierarchicalBroadcast"]
