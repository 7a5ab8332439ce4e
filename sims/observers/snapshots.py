"""Snapshots of the whole overlay at chosen cycles: all peers and all links.

They are two tables of a run folder (see docs/formats.md). `sims.report` shows them as an interactive overlay:

    peers   cycle, peer, id, low_0 .. high_0 .. (closed ranges), alive, host, group
    links   cycle, kind, source, target, stamp (the cycle it was made in), in view order. Kinds are
            cyclon, vicinity and ring, whatever the layers that keep these links are called, and the names of
            the layers above them

Each snapshot is appended to the files, so nothing is kept in memory. A resumed run replaces the snapshots
that the interrupted run recorded after its checkpoint.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sims.engine.simulation import Simulation
from sims.observers.degrees import kinds_of
from workloads.files.atomic import atomic_write, file_name
from workloads.files.checked import read_parquet, write_parquet


def record_cycle(folder: Path, name: str, table: pa.Table) -> None:
    """Add the rows of one cycle, given in the column `cycle`, to a table in a folder.

    Rows of earlier cycles are kept. Rows of this or later cycles, left by a run that was interrupted and then
    resumed from a checkpoint, are removed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for cycle in (0, 10, 20, 10):
    ...         record_cycle(Path(folder), "load", pa.table({"cycle": [cycle], "peer": [7]}))
    ...     read_parquet(Path(folder) / "load.parquet")["cycle"].to_pylist()
    [0, 10]
    """
    file = folder / f"{file_name(name)}.parquet"
    if file.exists() and table.num_rows:
        before = read_parquet(file, name)
        earlier = before.filter(pc.less(before["cycle"], table["cycle"][0]))
        table = pa.concat_tables([earlier.cast(table.schema), table])
    with atomic_write(file) as draft:
        write_parquet(table, draft, name, compression="zstd")


KINDS = ("cyclon", "vicinity", "ring")


def peers_of(simulation: Simulation) -> pa.Table:
    """All peers in their current state, including dormant ones, in ring order.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> from sub2sub.overlay.population import Population
    >>> simulation = Simulation(Overlay(Population.of([[0.0], [0.5]], [[0.6], [1.0]])))
    >>> peers_of(simulation).column_names
    ['cycle', 'peer', 'id', 'low_0', 'high_0', 'alive', 'host', 'group']
    """
    population, network = simulation.overlay.population, simulation.overlay.network
    lows, highs = population.ranges()
    columns: dict[str, NDArray[Any]] = {
        "cycle": np.full(len(population), simulation.cycle, np.int32),
        "peer": np.arange(len(population), dtype=np.int32),
        "id": population.ids,
        **{f"low_{k}": lows[:, k] for k in range(population.d)},
        **{f"high_{k}": highs[:, k] for k in range(population.d)},
        "alive": (network.alive == 1) & population.present,
        "host": population.host,
        "group": network.group,
    }
    return pa.table(columns)


def links_of(simulation: Simulation) -> pa.Table:
    """All links that live peers hold now, including links to dead peers, in the order of their views."""
    alive = simulation.overlay.network.alive == 1
    found = {name: layer.links() for name, layer in kinds_of(simulation).items()}
    # Layers such as probing have no links of their own.
    kinds = [name for name, (holders, _, _) in found.items() if name in KINDS or holders.size]
    tables = []
    for number, name in enumerate(kinds):
        held = alive[found[name][0]]
        source, target, stamp = (column[held].astype(np.int32) for column in found[name])
        kind = pa.DictionaryArray.from_arrays(np.full(source.size, number, np.int8), kinds)
        cycle = np.full(source.size, simulation.cycle, np.int32)
        columns = {"cycle": cycle, "kind": kind, "source": source, "target": target, "stamp": stamp}
        tables.append(pa.table(columns))
    return pa.concat_tables(tables)


class Snapshots:
    """Add the peers and links of the current cycle to `peers.parquet` and `links.parquet` in a folder."""

    observes = True

    name = "snapshots"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def execute(self, simulation: Simulation) -> None:
        """Record a snapshot."""
        record_cycle(self.folder, "peers", peers_of(simulation))
        record_cycle(self.folder, "links", links_of(simulation))
