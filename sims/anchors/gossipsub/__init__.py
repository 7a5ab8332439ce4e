"""GossipSub: a mesh of bounded degree that events are pushed along, and gossip about them to others."""
