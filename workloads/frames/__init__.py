"""Workloads as Spark DataFrames: DataFrames in, DataFrames out, planned only; Spark runs a plan when it is
used.

    subscriptions   subscriber long, ring_id long, X_low double, X_high double for each attribute X
    events          event long, X double
    topics          topic long, path string, last long (the last topic at or below it), depth long
    churn           cycle long, subscriber long, kind string, version long, X_low double, X_high double
    match_counts    event long, matches long
    rings           event long, ring array<long>: the matching subscribers in ring order
    ring_links      event long, subscriber long, successor long
    loads           subscriber long, rings long, successors long (distinct ones)
    overlaps        subscriber long, overlaps long, links long

Ranges are closed. Functions that run on workers need NumPy, numba and pyarrow there, and this code.
"""

from workloads.frames.covers import covers, exact_rings
from workloads.frames.generate import candidates, churn, events, ring_ids, subscriptions, topics
from workloads.frames.loads import loads
from workloads.frames.matches import match_counts
from workloads.frames.overlaps import overlaps
from workloads.frames.own import Checked, checked
from workloads.frames.rings import ring_links, rings
from workloads.frames.statistics import ring_statistics

__all__ = [
    "Checked", "candidates", "checked", "churn", "covers", "events", "exact_rings", "loads", "match_counts",
    "overlaps", "ring_ids", "ring_links", "ring_statistics", "rings", "subscriptions", "topics",
]  # fmt: skip
