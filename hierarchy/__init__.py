"""Topic hierarchies and hierarchical gossip."""
