"""Well-known alternative protocols, with which rings and gossip are compared.

One folder for each protocol (settings, peer, layer), written from its paper or specification. Peers are plain
objects: they receive messages and return messages to send. `transport` delivers these under the faults of the
network and bills them to their senders. `pushing` spreads events over the links.
"""
