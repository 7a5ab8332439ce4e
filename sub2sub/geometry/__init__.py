"""Geometry: typed attributes mapped to axes, subscriptions as boxes, and questions about boxes.

Exact on floats: closed ranges outside, half-open boxes inside. Everything else stands on this room.
"""
