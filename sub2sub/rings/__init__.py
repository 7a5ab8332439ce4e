"""Rings: the subscribers on the ring of an event, and the neighbours that a peer needs (`select_ring`).

Overlays are measured against these true rings; other systems can import `select_ring`.
"""
