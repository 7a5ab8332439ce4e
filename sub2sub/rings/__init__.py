"""Rings: who is on the ring of an event, in which order, and which neighbours a peer needs (`select_ring`).

The truth that overlays are measured against, and the part that other systems import.
"""
