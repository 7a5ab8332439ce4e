"""Files that count only when they are complete: atomic writes, manifests, and where something was computed.

Workloads, sweeps, runs, comparisons and statistics all write through this room.
"""
