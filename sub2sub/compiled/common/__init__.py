"""What all layers share: random numbers, rows of links, the network, turns, and the interface of a layer."""
