"""Overlays: a population, the network between its peers, and the layers of links that peers keep.

`layer` is the interface of a protocol, `stack` runs several protocols, `overlay` is the stack of Sub-2-Sub.
"""
