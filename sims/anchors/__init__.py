"""Protocols that an engineer would choose instead: the anchors that rings and gossip are compared with.

One room for each protocol (settings, peer, layer), written from its paper or specification. Peers are plain
objects that are handed messages and give back what to send; `transport` carries these under the faults of the
network and bills them to their senders. `pushing` is how an event spreads once links are there.
"""
