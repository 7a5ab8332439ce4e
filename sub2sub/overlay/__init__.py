"""Overlays: a population, the network between its peers, and the layers of links that peers keep.

`layer` is what any protocol offers the engine, `stack` runs several, `overlay` is Sub-2-Sub's stack.
"""
