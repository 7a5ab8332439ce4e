"""Complete files or none: atomic writes, manifests, checksums, and the environment of a computation.

Workloads, sweeps, runs, comparisons and statistics all write through this room.
"""
