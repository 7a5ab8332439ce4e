"""What can be observed of the links of any stack of layers, by kind."""

from __future__ import annotations

from sims.config.entries import Kinds

LINKS: Kinds = {
    "degrees": "sims.observers.degrees:Degrees",
    "ages": "sims.observers.degrees:LinkAges",
    "clustering": "sims.observers.graph:Clustering",
    "paths": "sims.observers.graph:PathLengths",
    "connectivity": "sims.observers.graph:Connectivity",
    "snapshot": "sims.observers.snapshots:Snapshots",
}
