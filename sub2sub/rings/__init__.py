"""Rings: the peers on the ring of an event, in order, and the neighbours that a peer needs (`select_ring`).

The truth that overlays are measured against, and the part that other systems import.
"""
