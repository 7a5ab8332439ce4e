"""Observers: controls that measure the simulation and write a row."""

from sims.observers.degrees import Degrees, LinkAges
from sims.observers.delivery import Delivery
from sims.observers.graph import Clustering, Connectivity, PathLengths, snapshot
from sims.observers.rings import RingCompleteness

__all__ = [
    "Clustering",
    "Connectivity",
    "Degrees",
    "Delivery",
    "LinkAges",
    "PathLengths",
    "RingCompleteness",
    "snapshot",
]
