"""Writing files safely: atomic writes, checksums, manifests, and the environment of a computation.

Workloads, sweeps, runs, comparisons and statistics all write through this folder.
"""
