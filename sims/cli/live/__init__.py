"""Commands of `sub2sub live`: nodes, the authority of a swarm, swarms on loopback to measure."""
