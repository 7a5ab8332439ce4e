"""Scribe: a multicast tree for each topic, of the routes from its subscribers to its rendezvous node."""
