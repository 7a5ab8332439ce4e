"""The gossip protocols CAMCAST is compared with, as tables for its dissemination kernel."""

from hierarchy.gossip.alternatives import GossipBroadcast, GossipMulticast, HierarchicalBroadcast

__all__ = ["GossipBroadcast", "GossipMulticast", "HierarchicalBroadcast"]
