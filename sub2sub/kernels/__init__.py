"""Kernels: how loops are compiled, how they draw random numbers, and their vector type.

Nothing here knows a protocol.
"""
