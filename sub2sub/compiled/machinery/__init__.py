"""Kernels: how loops are compiled, how they draw random numbers, and their vector type.

Nothing here knows a protocol. `switch` lists the parts that change how numba compiles kernels; the others
(`dice`, `memory`, `randomness`, `rows`, `threads`) are used by kernels and peers.
"""
