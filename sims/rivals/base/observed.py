"""What can be observed of the links of any stack of layers, by kind."""

from __future__ import annotations

from sims.config.entries import Kinds
from sims.observers import Clustering, Connectivity, Degrees, LinkAges, PathLengths
from sims.observers.snapshots import Snapshots

LINKS: Kinds = {
    "degrees": Degrees,
    "ages": LinkAges,
    "clustering": Clustering,
    "paths": PathLengths,
    "connectivity": Connectivity,
    "snapshot": Snapshots,
}
